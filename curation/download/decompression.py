"""Decompressed streams that stop before they become a bomb."""

from __future__ import annotations

import lzma
from typing import IO, TYPE_CHECKING, Final

from curation.system.errors import BadArchive

if TYPE_CHECKING:
    from pathlib import Path

#: No ratio is asked of a stream shorter than this: small files compress well.
_RATIO_FREE_BYTES: Final = 64 << 20
#: Memory that an xz stream may ask for; `xz -9` needs 65 MiB.
_XZ_MEMORY: Final = 256 << 20
_CHUNK: Final = 1 << 16


class Meter:
    """Counts decompressed bytes against a cap and against the archive's size."""

    __slots__ = ("_archive", "_cap", "_packed", "_ratio", "_total")

    def __init__(self, archive: Path, cap: int, ratio: int) -> None:
        """Take the caps: bytes in all, and bytes for each byte of the archive."""
        self._archive = archive
        self._packed = max(1, archive.stat().st_size)
        self._cap = cap
        self._ratio = ratio
        self._total = 0

    def add(self, count: int) -> None:
        """Count some bytes; `BadArchive` beyond a cap."""
        self._total += count
        if self._total > self._cap:
            what = f"unpacks to more than {self._cap:,} bytes"
            raise BadArchive(what, str(self._archive), "refused")
        suspicious = self._total > _RATIO_FREE_BYTES
        if suspicious and self._total > self._packed * self._ratio:
            what = f"unpacks to more than {self._ratio} times its size"
            raise BadArchive(what, str(self._archive), "refused")


class Metered:
    """A stream whose every byte is counted; all that `tarfile` asks of one."""

    __slots__ = ("_meter", "_stream")

    def __init__(self, stream: IO[bytes] | Unxz, meter: Meter) -> None:
        """Read from a stream on account of a meter."""
        self._stream = stream
        self._meter = meter

    def read(self, size: int) -> bytes:
        """Read at most so many bytes."""
        content = self._stream.read(size)
        self._meter.add(len(content))
        return content


class Unxz:
    """One xz stream, decompressed in bounded steps and within bounded memory.

    `lzma.LZMAFile` has no limit of memory, and the header of a hostile file can
    ask for gigabytes.
    """

    __slots__ = ("_decompressor", "_packed")

    def __init__(self, packed: IO[bytes]) -> None:
        """Read from a file open for bytes."""
        self._packed = packed
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """Read at most so many bytes; `lzma.LZMAError` or EOFError if broken."""
        inflate = self._decompressor
        while not inflate.eof:
            more = self._packed.read(_CHUNK) if inflate.needs_input else b""
            if inflate.needs_input and not more:
                raise EOFError("the compressed file ends too early")
            content = inflate.decompress(more, size)
            if content:
                return content
        return b""
