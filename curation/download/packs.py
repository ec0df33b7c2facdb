"""Packs: the selected files of one archive as one memory-mapped table.

A pack is an Arrow IPC file in the cache with a row for every file, in the order
of the archive they came from. Opening one reads the paths and nothing else;
contents are paged in one by one, so that 82,094 files of 492 MB cost neither
time nor memory until they are read. It is named after its digest.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from curation.system.atomic_files import replace_file, unfinished
from curation.system.errors import BadArchive, BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIX: Final = ".arrow"
#: Contents are written in batches of about this many bytes.
_BATCH_BYTES: Final = 16 << 20
#: Mapped pages count as memory of ours until they are given back.
_FORGET_BYTES: Final = 32 << 20
_SCHEMA: Final = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("sha256", pa.binary(32), nullable=False),
        pa.field("content", pa.large_binary(), nullable=False),
    ],
    metadata={"format": "csbdata pack 1"},
)


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

    __slots__ = ("_contents", "_map", "_read", "_rows", "_sums", "path", "paths")

    def __init__(self, path: Path) -> None:
        """Map a pack's file; `open_pack` is the way to call this."""
        try:
            self._map = _mapped(path)
            table = pa.ipc.open_file(pa.BufferReader(self._map)).read_all()
            if not table.schema.equals(_SCHEMA, check_metadata=True):
                raise pa.ArrowInvalid("another schema")
        except FileNotFoundError as error:
            raise NoInput("there is no such pack", str(path)) from error
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(path) from error
        names: list[str] = table.column("path").to_pylist()
        self.path = path
        self._read = 0
        self._rows: list[int] = sorted(range(len(names)), key=names.__getitem__)
        #: Paths inside the archive, sorted by code point.
        self.paths: tuple[str, ...] = tuple(names[row] for row in self._rows)
        self._sums: pa.ChunkedArray = table.column("sha256")
        self._contents: pa.ChunkedArray = table.column("content")

    def read(self, path: str) -> bytes:
        """Return one file's bytes, checked.

        Raises:
            KeyError: there is no such file.
            BadData: the cache's bytes have changed since they were packed (exit 65).
        """
        row = self._row(path)
        content: bytes = self._contents[row].as_buffer().to_pybytes()
        if hashlib.sha256(content).digest() != self._sums[row].as_py():
            raise _damaged(self.path)
        self._forget(len(content))
        return content

    def _forget(self, length: int) -> None:
        """Give pages back from time to time: what was read is rarely read again."""
        self._read += length
        if self._read >= _FORGET_BYTES:
            self._read = 0
            self._map.madvise(mmap.MADV_DONTNEED)

    def sha256(self, path: str) -> str:
        """Return one file's sha256 in hexadecimal; KeyError where there is none."""
        checksum: bytes = self._sums[self._row(path)].as_py()
        return checksum.hex()

    def size(self, path: str) -> int:
        """Return one file's length in bytes; KeyError where there is none."""
        return int(self._contents[self._row(path)].as_buffer().size)

    @property
    def digest(self) -> str:
        """The digest over all files (`digest_of`)."""
        sums: list[bytes] = self._sums.to_pylist()
        ordered = (sums[row].hex() for row in self._rows)
        return digest_of(zip(self.paths, ordered, strict=True))

    def _row(self, path: str) -> int:
        place = bisect_left(self.paths, path)
        if place == len(self.paths) or self.paths[place] != path:
            raise KeyError(path)
        return self._rows[place]

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)

    def __reduce__(self) -> tuple[type[Pack], tuple[Path]]:
        """Travel to another process as the path of the file."""
        return Pack, (self.path,)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def open_pack(path: Path) -> Pack:
    """Map a pack; `NoInput` if it is not there, `BadData` if it is no pack."""
    return Pack(path)


def write_pack(folder: Path, name: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """Write files, as they come, to a pack named after their digest.

    The memory needed is that of a few batches and the paths.

    Args:
        folder: Where the pack is written.
        name: What the unfinished file is called, for
            `curation.system.atomic_files.sweep`.
        files: Path and content of every file.

    Raises:
        BadArchive: a path comes twice (exit 65).
        CannotCreate: the folder cannot be written (exit 73).
    """
    checksums: dict[str, str] = {}
    with unfinished(folder, name) as temporary:
        with pa.OSFile(os.fspath(temporary), "wb") as sink:
            _write(sink, _summed(files, checksums))
        path = folder / (digest_of(checksums.items()) + SUFFIX)
        replace_file(temporary, path)
    return path


def _summed(
    files: Iterable[tuple[str, bytes]], checksums: dict[str, str]
) -> Iterator[tuple[str, bytes, bytes]]:
    for path, content in files:
        if path in checksums:
            raise BadArchive("two files of one archive have this name", path)
        checksum = hashlib.sha256(content)
        checksums[path] = checksum.hexdigest()
        yield path, checksum.digest(), content


def _write(sink: pa.NativeFile, rows: Iterable[tuple[str, bytes, bytes]]) -> None:
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        batch: list[tuple[str, bytes, bytes]] = []
        weight = 0
        for row in rows:
            batch.append(row)
            weight += len(row[2])
            if weight >= _BATCH_BYTES:
                writer.write_batch(_batch(batch))
                batch, weight = [], 0
        if batch:
            writer.write_batch(_batch(batch))


def _batch(rows: list[tuple[str, bytes, bytes]]) -> pa.RecordBatch:
    columns = [
        pa.array(column, type=field.type)
        for column, field in zip(zip(*rows, strict=True), _SCHEMA, strict=True)
    ]
    return pa.record_batch(columns, schema=_SCHEMA)


def _damaged(path: Path) -> BadData:
    return BadData("this pack is damaged", str(path), "delete it and run again")
