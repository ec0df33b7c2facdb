"""Packs: the selected files of an archive in one file, with a checksum of each.

A pack is the contents one after another, their table as JSON, and its length in eight
bytes. It is named after the digest over its files, so nothing of a damaged pack is
trusted.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from curation.download.folder_files import FolderFiles, MadeFile, digest_of, single_file
from curation.system.atomic_files import replace_file, unfinished
from curation.system.errors import BadArchive, BadData, NoInput

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
        """The digest over all files (`digest_of`)."""
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
    return digest_of((path, checksum) for path, (_, _, checksum) in rows.items())


def _damaged(path: Path) -> BadData:
    return BadData("this pack is damaged", str(path), "delete it and run again")


def open_files(path: Path) -> Pack | FolderFiles | MadeFile:
    """Open a pack, a folder or a user's file, as a worker does."""
    if path.is_dir():
        return FolderFiles(path)
    return open_pack(path) if path.suffix == SUFFIX else single_file(path)
