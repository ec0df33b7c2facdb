"""Packs: the selected files of an archive in one uncompressed zip file.

A pack is named after the digest over its files, and zip checks each content as it is
read, so nothing of a damaged pack is trusted.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from curation.download.folder_files import FolderFiles, SingleFile, digest_of
from curation.system.atomic_files import replace_file, unfinished
from curation.system.errors import BadArchive, BadData, NoInput

SUFFIX: Final = ".pack"


class Pack:
    """The files of one archive: an immutable table, path to bytes."""

    __slots__ = ("_zip", "path", "paths")

    def __init__(self, path: Path) -> None:
        """Read a pack's table of contents; `open_pack` is the way to call this."""
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError as error:
            raise NoInput("there is no such pack", str(path)) from error
        except (OSError, zipfile.BadZipFile) as error:
            raise _damaged(path) from error
        self.path = path
        #: Paths inside the archive, sorted by code point.
        self.paths: tuple[str, ...] = tuple(sorted(self._zip.namelist()))

    @property
    def digest(self) -> str:
        """The digest over all files (`digest_of`)."""
        return self.path.stem

    def read(self, path: str) -> bytes:
        """Return one file's bytes, checked.

        Raises:
            KeyError: there is no such file.
            BadData: the pack has been damaged since it was written.
        """
        try:
            return self._zip.read(path)
        except (OSError, EOFError, NotImplementedError, zipfile.BadZipFile) as error:
            raise _damaged(self.path) from error

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)


@lru_cache(maxsize=8)
def _opened(path: Path, _inode: int, _changed_ns: int, _size: int) -> Pack:
    return Pack(path)


def open_pack(path: Path) -> Pack:
    """Open a pack; the last ones are open already, which saves up to a second.

    Raises:
        NoInput: there is no such file.
        BadData: it is damaged.
    """
    try:
        status = path.stat()
    except OSError:
        return Pack(path)
    return _opened(path, status.st_ino, status.st_mtime_ns, status.st_size)


def write_pack(folder: Path, name: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write files, as they come, to a pack named after their digest.

    Args:
        folder: Where the pack is written.
        name: Of the unfinished file, for `curation.system.atomic_files.sweep`.
        files: Path and content of every file.

    Raises:
        BadArchive: a path comes twice, or is not UTF-8.
        CannotCreate: the folder cannot be written.
    """
    checksums: dict[str, str] = {}
    with unfinished(folder, name) as temporary:
        with zipfile.ZipFile(temporary, "w") as sink:
            for path, content in files:
                if path in checksums:
                    raise BadArchive("two files of one archive have this name", path)
                checksums[path] = hashlib.sha256(content).hexdigest()
                sink.writestr(zipfile.ZipInfo(path), content)
        pack = folder / (digest_of(checksums.items()) + SUFFIX)
        replace_file(temporary, pack)
    return pack


def _damaged(path: Path) -> BadData:
    return BadData("this pack is damaged", str(path), "delete it and run again")


def open_files(path: Path) -> Pack | FolderFiles | SingleFile:
    """Open a pack, a folder or a user's file, as a worker does."""
    if path.is_dir():
        return FolderFiles(path)
    return open_pack(path) if path.suffix == SUFFIX else SingleFile(path)
