"""The files of sources: of an archive's pack, of a folder, of a user's single file.

A pack holds the selected files of an archive, with a checksum of each.
It is the contents one after another, their table as JSON, and its length in eight
bytes. It is named after the digest over its files, so nothing of a damaged pack is
trusted.
"""

from __future__ import annotations

import hashlib
import os
import stat
import weakref
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from curation.system.errors import BadArchive, BadData, NoInput
from curation.system.user_files import (
    has_other_bytes,
    reading,
    refuse_large,
    refuse_unprintable,
)

#: Folders that tools make.
_OF_TOOLS = frozenset({"node_modules", "__pycache__"})


def compute_digest(checksums: Iterable[tuple[str, str]]) -> str:
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
        """The digest over all files (`compute_digest`)."""
        return compute_digest(
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
        """The digest over the one file (`compute_digest`)."""
        known = self._content + "\n".join(self.places).encode()
        return compute_digest([(self.paths[0], hashlib.sha256(known).hexdigest())])


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


SUFFIX = ".pack"
_LENGTH_BYTES = 8
#: Path to where its content starts, its size, and its sha256 in hexadecimal.
_Rows = dict[str, tuple[int, int, str]]


class Pack:
    """The files of one archive: an immutable table, path to bytes."""

    def __init__(self, path: Path) -> None:
        """Read a pack's table of contents; `open_pack` is the way to call this."""
        try:
            self._file = path.open("rb")
            weakref.finalize(self, self._file.close)
            end = self._file.seek(-_LENGTH_BYTES, os.SEEK_END)
            length = int.from_bytes(self._file.read(), "little")
            self._file.seek(end - length)
            self._rows = msgspec.json.decode(self._file.read(length), type=_Rows)
        except FileNotFoundError as error:
            raise NoInput("there is no such pack", str(path)) from error
        except (OSError, ValueError) as error:
            raise _damaged(path) from error
        self.path = path
        #: Paths inside the archive, sorted by code point.
        self.paths: tuple[str, ...] = tuple(sorted(self._rows))
        if self.digest != _digest(self._rows):
            raise _damaged(path)

    @property
    def digest(self) -> str:
        """The digest over all files (`compute_digest`)."""
        return self.path.stem

    def read(self, path: str) -> bytes:
        """Return one file's bytes, checked.

        Raises:
            KeyError: no such file.
            BadData: the pack has been damaged since it was written.
        """
        start, size, checksum = self._rows[path]
        try:
            content = os.pread(self._file.fileno(), size, start)
        except (OSError, ValueError) as error:
            raise _damaged(self.path) from error
        if hashlib.sha256(content).hexdigest() != checksum:
            raise _damaged(self.path)
        return content


@lru_cache(maxsize=8)
def _opened(path: Path, _inode: int, _changed_ns: int, _size: int) -> Pack:
    return Pack(path)


def open_pack(path: Path) -> Pack:
    """Open a pack; the last ones are open already, which saves a fifth of a second.

    Raises:
        NoInput: no such file.
        BadData: it is damaged.
    """
    try:
        status = path.stat()
    except OSError:
        return Pack(path)
    return _opened(path, status.st_ino, status.st_mtime_ns, status.st_size)


def cached_pack(packs: Path, digest: str) -> Path | None:
    """Return the pack of this digest, or None if it is missing or damaged.

    Contents are checked when they are read.

    Args:
        packs: The folder of packs.
        digest: Over the files of the archive.
    """
    try:
        return open_pack(packs / (digest + SUFFIX)).path
    except (NoInput, BadData):
        return None


def write_pack(folder: Path, name: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write files, as they come, to a pack named after their digest.

    Args:
        folder: Where the pack is written.
        name: The unfinished file's, for `curation.system.atomic_files.sweep`.
        files: Path and content of every file.

    Raises:
        BadArchive: a path comes twice, or is not UTF-8.
        CannotCreate: the folder cannot be written.
    """
    from curation.system.atomic_files import (  # noqa: PLC0415 - takes 10 ms
        replace_file,
        unfinished,
    )

    rows: _Rows = {}
    with unfinished(folder, name) as temporary:
        with temporary.open("wb") as sink:
            for path, content in files:
                if path in rows:
                    raise BadArchive("two files of one archive have this name", path)
                checksum = hashlib.sha256(content).hexdigest()
                rows[path] = sink.tell(), len(content), checksum
                sink.write(content)
            table = msgspec.json.encode(rows)
            sink.write(table + len(table).to_bytes(_LENGTH_BYTES, "little"))
        pack = folder / (_digest(rows) + SUFFIX)
        replace_file(temporary, pack)
    return pack


def _digest(rows: _Rows) -> str:
    return compute_digest((path, checksum) for path, (_, _, checksum) in rows.items())


def _damaged(path: Path) -> BadData:
    return BadData("this pack is damaged", str(path), "delete it and run again")


def open_files(path: Path) -> Pack | FolderFiles | MadeFile:
    """Open a pack, a folder or a user's file, as a worker does."""
    if path.is_dir():
        return FolderFiles(path)
    return open_pack(path) if path.suffix == SUFFIX else single_file(path)
