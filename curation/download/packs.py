"""Packs: the files of an archive by their paths.

A pack is the contents one after another, the index of them as JSON (path, sha256 and
size of each), and the index's length in eight bytes. Its name is the digest over the
index, so nothing of a damaged pack is ever trusted.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final

import msgspec

from curation.download.folder_files import FolderFiles, SingleFile, digest_of
from curation.system.atomic_files import replace_file, unfinished
from curation.system.errors import BadArchive, BadData, NoInput

SUFFIX: Final = ".pack"
_LENGTH_BYTES: Final = 8
#: Path, sha256 in hexadecimal, size; in the order of the contents.
_Index = list[tuple[str, str, int]]


class Pack:
    """The files of one archive: an immutable table, path to bytes."""

    __slots__ = ("__weakref__", "_file", "_rows", "digest", "path", "paths")

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
        #: The digest over all files (`digest_of`).
        self.digest = digest_of((name, checksum) for name, checksum, _ in index)
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
    if sum(size for _, _, size in index) != start:
        raise ValueError(start)
    return index


@lru_cache(maxsize=8)
def _opened(path: Path, _inode: int, _changed_ns: int, _size: int) -> Pack:
    return Pack(path)


def open_pack(path: Path) -> Pack:
    """Open a pack; `NoInput` if it is not there, `BadData` if it is no pack.

    The last ones are open already: an index can take a tenth of a second to read.
    """
    try:
        found = path.stat()
    except OSError:
        return Pack(path)
    return _opened(path, found.st_ino, found.st_mtime_ns, found.st_size)


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


def open_files(path: Path) -> Pack | FolderFiles | SingleFile:
    """Open a pack, a folder or a user's file, whichever it is: what workers call."""
    if path.is_dir():
        return FolderFiles(path)
    return open_pack(path) if path.suffix == SUFFIX else SingleFile(path)
