"""Packs and folders: the files of an archive by their paths.

A pack is the contents one after another, the index of them as JSON (path, sha256 and
size of each), and the index's length in eight bytes. Its name is the digest over the
index, so nothing of a damaged pack is ever trusted.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final

import msgspec

from curation.system.atomic_files import replace_file, unfinished
from curation.system.errors import BadArchive, BadData, NoInput
from curation.system.user_files import (
    has_other_bytes,
    refuse_large,
    refuse_unprintable,
)

SUFFIX: Final = ".pack"
_LENGTH_BYTES: Final = 8
#: Path, sha256 in hexadecimal, size; in the order of the contents.
_Index = list[tuple[str, str, int]]


def digest_of(checksums: Iterable[tuple[str, str]]) -> str:
    """Return the digest over files: sha256 of lines `sha256hex  path`.

    The lines are sorted by path (by code point) and end in a line feed, so that
    `sha256sum FILE... | sha256sum` gives the same where the shell sorts alike.
    Takes pairs of path and sha256 in hexadecimal.
    """
    lines = (f"{checksum}  {path}\n" for path, checksum in sorted(checksums))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class Pack:
    """The files of one archive: an immutable table, path to bytes."""

    __slots__ = ("__weakref__", "_file", "_rows", "path", "paths")

    def __init__(self, path: Path) -> None:
        """Read a pack's index; `open_pack` is the way to call this."""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._file)
            index = _read_index(self._file)
        except FileNotFoundError as error:
            raise NoInput("there is no such pack", str(path)) from error
        except (OSError, ValueError) as error:
            raise _damaged(path) from error
        starts = accumulate((size for _, _, size in index), initial=0)
        #: Where a content starts, its size and its sha256.
        self._rows = {
            name: (start, size, checksum)
            for (name, checksum, size), start in zip(index, starts, strict=False)
        }
        self.path = path
        #: Paths inside the archive, sorted by code point.
        self.paths: tuple[str, ...] = tuple(sorted(self._rows))
        if path.stem != self.digest:
            raise _damaged(path)

    def read(self, path: str) -> bytes:
        """Return one file's bytes, checked.

        Raises:
            KeyError: there is no such file.
            BadData: the cache's bytes have changed since they were packed.
        """
        start, size, checksum = self._rows[path]
        content = os.pread(self._file, size, start)
        if hashlib.sha256(content).hexdigest() != checksum:
            raise _damaged(self.path)
        return content

    def sha256(self, path: str) -> str:
        """Return one file's sha256 in hexadecimal; KeyError if there is none."""
        return self._rows[path][2]

    def size(self, path: str) -> int:
        """Return one file's length in bytes; KeyError if there is none."""
        return self._rows[path][1]

    @property
    def digest(self) -> str:
        """The digest over all files (`digest_of`)."""
        return digest_of((path, self.sha256(path)) for path in self.paths)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)

    def __reduce__(self) -> tuple[type[Pack], tuple[Path]]:
        """Travel to another process as the path of the file."""
        return Pack, (self.path,)


def _read_index(file: int) -> _Index:
    """Return the index, whose sizes add up to the contents before it.

    Raises:
        ValueError: it is damaged.
    """
    end = os.fstat(file).st_size - _LENGTH_BYTES
    length = int.from_bytes(os.pread(file, _LENGTH_BYTES, max(end, 0)), "little")
    start = end - length
    if start < 0:
        raise ValueError(length)
    index = msgspec.json.decode(os.pread(file, length, start), type=_Index)
    sizes = [size for _, _, size in index]
    if sum(sizes) != start or min(sizes, default=0) < 0:
        raise ValueError(start)
    return index


def open_pack(path: Path) -> Pack:
    """Open a pack; `NoInput` if it is not there, `BadData` if it is no pack."""
    return Pack(path)


def write_pack(folder: Path, name: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write files, as they come, to a pack named after their digest.

    The memory needed is that of one file and the paths.

    Args:
        folder: Where the pack is written.
        name: What the unfinished file is called, for
            `curation.system.atomic_files.sweep`.
        files: Path and content of every file.

    Raises:
        BadArchive: a path comes twice.
        CannotCreate: the folder cannot be written.
    """
    index: dict[str, tuple[str, str, int]] = {}
    with unfinished(folder, name) as temporary:
        with temporary.open("wb") as sink:
            for path, content in files:
                if path in index:
                    raise BadArchive("two files of one archive have this name", path)
                checksum = hashlib.sha256(content).hexdigest()
                index[path] = (path, checksum, len(content))
                sink.write(content)
            text = msgspec.json.encode([*index.values()])
            sink.write(text + len(text).to_bytes(_LENGTH_BYTES, "little"))
        digest = digest_of((path, checksum) for path, checksum, _ in index.values())
        pack = folder / (digest + SUFFIX)
        replace_file(temporary, pack)
    return pack


def _damaged(path: Path) -> BadData:
    return BadData("this pack is damaged", str(path), "delete it and run again")


#: Folders that tools make.
_OF_TOOLS = frozenset({"node_modules", "__pycache__"})


class FolderFiles:
    """The regular files below a folder, by their paths relative to it.

    Hidden files and folders, those of tools (`node_modules`), and links that lead out
    of the folder are left out.
    """

    __slots__ = ("_most", "_path_set", "_suffixes", "path", "paths", "unread")

    def __init__(
        self, root: Path, suffixes: tuple[str, ...] = ("",), most: int = -1
    ) -> None:
        """List the files once.

        Args:
            root: The folder.
            suffixes: Ends of the names of the files that are read; all by default.
            most: Bytes that are read of a file; -1 for all. A reader that refuses what
                is larger gives one byte more than it takes.

        Raises:
            NoInput: there is no such folder.
        """
        if not root.is_dir():
            raise NoInput("there is no such folder", str(root))
        #: The folder itself.
        self.path = root
        self._suffixes, self._most = suffixes, most
        faults = dict(sorted(_paths_below(root.resolve(), suffixes)))
        #: Paths with `/` relative to the folder, sorted by code point.
        self.paths: tuple[str, ...] = tuple(
            path for path, fault in faults.items() if not fault
        )
        #: Paths of the other files, fit to be printed, with the reason.
        self.unread = {
            path.encode("utf-8", "backslashreplace").decode(): fault
            for path, fault in faults.items()
            if fault
        }
        self._path_set = frozenset(self.paths)

    def read(self, path: str) -> bytes:
        """Return one file's bytes; KeyError where the folder had none at first."""
        if path not in self._path_set:
            raise KeyError(path)
        file = self.path / path
        try:
            with file.open("rb") as handle:
                return handle.read(self._most)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoInput(f"cannot be read ({why})", str(file)) from error

    def sha256(self, path: str) -> str:
        """Return one file's sha256 in hexadecimal; KeyError if there is none."""
        return hashlib.sha256(self.read(path)).hexdigest()

    @property
    def digest(self) -> str:
        """The digest over all files (`curation.download.packs.digest_of`)."""
        return digest_of((path, self.sha256(path)) for path in self.paths)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)

    def __reduce__(
        self,
    ) -> tuple[type[FolderFiles], tuple[Path, tuple[str, ...], int]]:
        """Travel to another process as the path of the folder."""
        return FolderFiles, (self.path, self._suffixes, self._most)


class MadeFile:
    """One file that was made here, read as an archive that holds only it."""

    __slots__ = ("_content", "paths")

    def __init__(self, name: str, content: bytes) -> None:
        """Keep the content under a name."""
        self._content = content
        #: The file's name alone.
        self.paths: tuple[str, ...] = (name,)

    def read(self, path: str) -> bytes:
        """Return the bytes; KeyError for any other path."""
        if path not in self.paths:
            raise KeyError(path)
        return self._content

    @property
    def digest(self) -> str:
        """The digest over the one file (`curation.download.packs.digest_of`)."""
        checksum = hashlib.sha256(self._content).hexdigest()
        return digest_of([(self.paths[0], checksum)])


class SingleFile(MadeFile):
    """One file of the user's read as an archive that holds only it."""

    __slots__ = ()

    def __init__(self, file: Path) -> None:
        """Read the file.

        Raises:
            NoInput: that cannot be done, or its name is no UTF-8.
            BadData: it is too large, or a device.
        """
        refuse_unprintable(file)
        try:
            content = refuse_large(file).read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoInput(f"cannot be read ({why})", str(file)) from error
        super().__init__(file.name, content)


def open_files(path: Path) -> Pack | FolderFiles | SingleFile:
    """Open a pack, a folder or a user's file, whichever it is: what workers call."""
    if path.is_dir():
        return FolderFiles(path)
    return open_pack(path) if path.suffix == SUFFIX else SingleFile(path)


def _paths_below(root: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each path, and why its file is not read; empty if it is."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if _is_read(name)]
        for name in filter(_is_read, names):
            file = Path(folder, name)
            path = file.relative_to(root).as_posix()
            if file.exists() and not file.is_file():
                yield path, "no regular file"
            elif not file.is_file() or not file.resolve().is_relative_to(root):
                continue
            elif not path.endswith(suffixes):
                yield path, f"no {' or '.join(suffixes)}"
            elif has_other_bytes(path):
                yield path, "its name is no UTF-8"
            else:
                yield path, ""


def _is_read(name: str) -> bool:
    return name[0] != "." and name not in _OF_TOOLS
