"""Read archives of publishers safely, and unpack what a pin selects into a pack."""

from __future__ import annotations

import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from curation.download.packs import SUFFIX, open_pack, write_pack
from curation.download.pins import ArchiveKind, ArchivePin, Selection
from curation.system.errors import BadArchive, NoInput, WrongDigest
from curation.system.user_files import has_other_bytes, refuse_large
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.download.cache import Cache


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
    """One xz stream, decompressed in bounded steps and memory.

    `lzma.LZMAFile` has no limit of memory: a hostile header can ask for gigabytes.
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


#: Tar headers that carry a text for the next member: no honest one is longer.
_LONGEST_HEADER: Final = 1 << 20
_TEXT_HEADERS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_PLAIN_FILES: Final = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE})
#: Parts of a path that is absolute, or leads up, or can be written otherwise.
_ODD_PARTS: Final = frozenset({"", ".", ".."})
_WINDOWS_ROOT: Final = re.compile(r"[A-Za-z]:|\\|\.\.\\")
#: What the standard library raises on broken archives of one kind or another.
_BROKEN: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """What an archive may cost. Whole upstream archives must fit."""

    #: Members of any kind.
    members: int = 300_000
    #: Bytes of one selected file.
    file_bytes: int = 64 << 20
    #: Bytes after decompression, selected or not.
    total_bytes: int = 6 << 30
    #: Decompressed bytes for one byte of archive; asked beyond 64 MiB.
    ratio: int = 250


def read_archive(
    archive: Path,
    selection: Selection,
    *,
    strip: bool,
    limits: ArchiveLimits | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the selected regular files, in archive order.

    Links, devices and the like are passed over, permission bits ignored.

    Args:
        archive: The file; its name tells the kind: `.tar.gz`, `.tgz`, `.tar.xz`,
            `.zip` or `.whl`.
        selection: The paths that are wanted.
        strip: Whether the first folder (`<repo>-<commit>/`) is taken off every path.
        limits: What an archive may hold at most; the usual limits by default.

    Raises:
        BadArchive: it is broken, a path leads out of it, or it is beyond the limits
           .
        NoInput: the file cannot be read.
    """
    limits = limits or ArchiveLimits()
    members = _zipped if archive.suffix in {".zip", ".whl"} else _tarred
    try:
        yield from members(archive, limits, _Wanted(selection, strip))
    except gzip.BadGzipFile as error:
        raise _broken(archive, error) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(f"cannot be read ({why})", str(archive)) from error
    except _BROKEN as error:
        raise _broken(archive, error) from error


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Turns a member's name into the path that is wanted, or None."""

    selection: Selection
    strip: bool

    def path(self, name: str, archive: Path) -> str | None:
        """Refuse names that lead out of the archive; strip; select."""
        parts = name.rstrip("/").split("/")
        if not _ODD_PARTS.isdisjoint(parts) or _WINDOWS_ROOT.match(name):
            what = f"a member is called {name[:80]!r}, which leads out of it"
            raise BadArchive(what, str(archive), "refused")
        path = "/".join(parts[1:] if self.strip else parts)
        if path not in self.selection:
            return None
        if has_other_bytes(path):
            what = f"the name {path[:80]!r} is no UTF-8"
            raise BadArchive(what, str(archive), "refused")
        return path


class _CarefulHeader(tarfile.TarInfo):
    """A header that refuses a text of gigabytes before `tarfile` reads it."""

    @classmethod
    def frombuf(
        cls, buf: bytes | bytearray, encoding: str, errors: str
    ) -> _CarefulHeader:
        """Read one block as a header."""
        header = super().frombuf(buf, encoding, errors)
        if header.type in _TEXT_HEADERS and header.size > _LONGEST_HEADER:
            raise tarfile.ReadError("a header of more than 1 MiB")
        return header


def _tarred(
    archive: Path, limits: ArchiveLimits, selects: _Wanted
) -> Iterator[tuple[str, bytes]]:
    meter = Meter(archive, limits.total_bytes, limits.ratio)
    with archive.open("rb") as packed:
        stream = cast("IO[bytes]", Metered(_inflated(archive, packed), meter))
        with tarfile.open(
            fileobj=stream, mode="r|", tarinfo=_CarefulHeader, encoding="utf-8"
        ) as tar:
            for count, member in enumerate(iter(tar.next, None)):
                _check_count(archive, count, limits)
                # The list of members only grows: a stream has no way back.
                tar.members = []  # type: ignore[attr-defined] # not in typeshed
                path = selects.path(member.name, archive)
                if path is None or member.type not in _PLAIN_FILES:
                    continue
                _check_size(archive, path, member.size, limits)
                content = cast("IO[bytes]", tar.extractfile(member)).read()
                yield path, content


def _inflated(archive: Path, packed: IO[bytes]) -> IO[bytes] | Unxz:
    if archive.name.endswith((".tar.gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=packed, mode="rb"))
    if archive.name.endswith(".tar.xz"):
        return Unxz(packed)
    raise BadArchive("neither .tar.gz, .tar.xz, .zip nor .whl", str(archive))


def _zipped(
    archive: Path, limits: ArchiveLimits, selects: _Wanted
) -> Iterator[tuple[str, bytes]]:
    meter = Meter(archive, limits.total_bytes, limits.ratio)
    with zipfile.ZipFile(archive) as unzipped:
        members = unzipped.infolist()
        _check_count(archive, len(members), limits)
        for member in members:
            path = selects.path(member.filename, archive)
            if path is None or not _is_regular(member):
                continue
            _check_size(archive, path, member.file_size, limits)
            meter.add(member.file_size)
            with unzipped.open(member) as content:
                yield path, content.read()


def _is_regular(member: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(member.external_attr >> 16)
    return not member.is_dir() and kind in {0, stat.S_IFREG}


def _check_count(archive: Path, count: int, limits: ArchiveLimits) -> None:
    if count > limits.members:
        what = f"holds more than {limits.members:,} members"
        raise BadArchive(what, str(archive), "refused")


def _check_size(archive: Path, path: str, size: int, limits: ArchiveLimits) -> None:
    if size > limits.file_bytes:
        what = f"{path[:120]!r} is larger than {limits.file_bytes:,} bytes"
        raise BadArchive(what, str(archive), "refused")


def _broken(archive: Path, error: Exception) -> BadArchive:
    why = str(error) or type(error).__name__
    return BadArchive(f"a broken archive ({why})", str(archive), "get it again")


_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES: Final = 200


def unpack(
    pin: ArchivePin, file: Path, cache: Cache, limits: ArchiveLimits | None = None
) -> Path:
    """Return the pack of an archive's selected files, which are those of the pin.

    Args:
        pin: What the archive must contain.
        file: The archive as it was published.
        cache: Where the pack is written.
        limits: What an archive may hold at most; the usual limits by default.

    Raises:
        WrongDigest: the files are not those of the pin; the pack is kept as
            evidence.
    """
    pack = pack_of(pin, file, cache, limits)
    digest = pack.name.removesuffix(SUFFIX)
    if digest == pin.digest:
        return pack
    description = _described(pack)
    evidence = cache.refuse(pack, f"{pin.name}-{digest[:16]}{SUFFIX}")
    raise WrongDigest(
        f"{pin.name} is not what is pinned: sha256 over {description} is {digest}, "
        f"the pin says {pin.digest}",
        str(file),
        f"refused, kept as {evidence}; get the archive of {pin.commit}",
    )


def pack_of(
    pin: ArchivePin, file: Path, cache: Cache, limits: ArchiveLimits | None = None
) -> Path:
    """Return the pack of an archive's selected files, whatever they hold.

    Args:
        pin: Which files are selected; its digest does not count.
        file: The archive as it was published.
        cache: Where the pack is written.
        limits: What an archive may hold at most; the usual limits by default.

    Raises:
        BadArchive: it cannot be read, or holds too much.
        NoInput: there is no such file.
    """
    strip = pin.kind.has_outer_folder
    files = (
        _alone(file, pin.file)
        if pin.kind is ArchiveKind.HUB
        else read_archive(file, pin.paths, strip=strip, limits=limits)
    )
    return write_pack(cache.packs, pin.name, files)


def _alone(file: Path, name: str) -> Iterator[tuple[str, bytes]]:
    try:
        yield name, refuse_large(file).read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(f"cannot be read ({why})", str(file)) from error


def _described(path: Path) -> str:
    pack = open_pack(path)
    pointers = sum(
        pack.size(path) < _POINTER_BYTES and pack.read(path).startswith(_POINTER)
        for path in pack.paths
    )
    note = f" ({pointers} of them Git LFS pointers)" if pointers else ""
    return f"{counted(len(pack), 'selected file')}{note}"
