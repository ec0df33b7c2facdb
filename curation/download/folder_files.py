"""Folders and single files of the user's, read as the archives of sources are."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from curation.system.errors import NoInput
from curation.system.user_files import (
    has_other_bytes,
    reading,
    refuse_large,
    refuse_unprintable,
)

#: Folders that tools make.
_OF_TOOLS = frozenset({"node_modules", "__pycache__"})


def digest_of(checksums: Iterable[tuple[str, str]]) -> str:
    """Return the digest over files: sha256 of lines `sha256hex  path`.

    The lines are sorted by path (by code point) and end in a line feed, so that
    `sha256sum FILE... | sha256sum` gives the same where the shell sorts alike.
    Takes pairs of path and sha256 in hexadecimal.
    """
    lines = (f"{checksum}  {path}\n" for path, checksum in sorted(checksums))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class FolderFiles:
    """The regular files below a folder, by their paths relative to it.

    Hidden files and folders, tools' folders (`node_modules`), and links that lead out
    of the folder are left out.
    """

    def __init__(
        self, root: Path, suffixes: tuple[str, ...] = ("",), most: int = -1
    ) -> None:
        """List the files once.

        Args:
            root: The folder.
            suffixes: Ends of the names of the files to read; all by default.
            most: Bytes to read of a file; -1 for all. A reader that refuses what
                is larger gives one byte more than it takes.

        Raises:
            NoInput: no such folder.
        """
        if not root.is_dir():
            raise NoInput("there is no such folder", str(root))
        #: The folder itself.
        self.path = root
        self._most = most
        faults = sorted(_paths_below(root.resolve(), suffixes))
        #: Paths with `/` relative to the folder, sorted by code point.
        self.paths = tuple(path for path, fault in faults if not fault)
        #: Paths of the other files, fit to be printed, with the reason.
        self.unread = {
            path.encode("utf-8", "backslashreplace").decode(): fault
            for path, fault in faults
            if fault
        }
        self._path_set = frozenset(self.paths)

    def read(self, path: str) -> bytes:
        """Return one file's bytes; KeyError where the folder had none at first."""
        if path not in self._path_set:
            raise KeyError(path)
        file = self.path / path
        with reading(file), file.open("rb") as handle:
            return handle.read(self._most)

    @property
    def digest(self) -> str:
        """The digest over all files (`digest_of`)."""
        return digest_of(
            (path, hashlib.sha256(self.read(path)).hexdigest()) for path in self.paths
        )


class MadeFile:
    """One generated file, read as an archive that holds only it."""

    def __init__(self, name: str, content: bytes, places: tuple[str, ...] = ()) -> None:
        """Keep the content under a name, and where each row of it was found."""
        self._content = content
        self.places = places
        #: The file's name alone.
        self.paths: tuple[str, ...] = (name,)

    def read(self, path: str) -> bytes:
        """Return the bytes; KeyError for any other path."""
        if path not in self.paths:
            raise KeyError(path)
        return self._content

    @property
    def digest(self) -> str:
        """The digest over the one file (`digest_of`)."""
        known = self._content + "\n".join(self.places).encode()
        return digest_of([(self.paths[0], hashlib.sha256(known).hexdigest())])


def single_file(file: Path) -> MadeFile:
    """Read one file of the user's as an archive that holds only it.

    Raises:
        NoInput: that cannot be done, or its name is not UTF-8.
        BadData: it is too large, or a device.
    """
    refuse_unprintable(file)
    with reading(file):
        content = refuse_large(file).read_bytes()
    # A name without a known suffix, such as a pipe's, is read as JSON.
    return MadeFile(file.name if file.suffix else f"{file.name}.json", content)


def _paths_below(root: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each path, and why its file is not read; empty if it is."""
    lost: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=lost.append):
        folders[:] = [name for name in folders if _is_read(name)]
        for name in filter(_is_read, names):
            file = Path(folder, name)
            path = file.relative_to(root).as_posix()
            try:
                mode = file.stat().st_mode
            except (FileNotFoundError, RuntimeError):
                continue
            except OSError as error:
                yield path, f"cannot be read ({error.strerror})"
                continue
            if not stat.S_ISREG(mode):
                yield path, "no regular file"
            elif not file.resolve().is_relative_to(root):
                continue
            elif not path.endswith(suffixes):
                yield path, f"no {' or '.join(suffixes)}"
            elif has_other_bytes(path):
                yield path, "its name is no UTF-8"
            else:
                yield path, ""
    for closed in lost:
        place = Path(closed.filename).relative_to(root).as_posix()
        yield place, f"cannot be read ({closed.strerror})"


def _is_read(name: str) -> bool:
    return name[0] != "." and name not in _OF_TOOLS
