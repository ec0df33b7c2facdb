"""The selected files of an archive: read, packed, compared with the pin."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from curation.download.packs import write_pack
from curation.download.pins import ArchiveKind, ArchivePin, selects
from curation.system.errors import BadArchive, WrongDigest
from curation.system.user_files import reading, refuse_large

#: Bytes of one file, and of all files together, read of an archive.
FILE_BYTES = 64 << 20
TOTAL_BYTES = 6 << 30
#: Exceptions of the standard library for broken archives.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def read_archive(pin: ArchivePin, archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of an archive's selected files, in archive order.

    Links and other members that are not regular files are skipped.

    Args:
        pin: The kind of the archive, and its selected files.
        archive: The file: zip by its name (`.zip`, `.whl`), otherwise tar.

    Raises:
        BadArchive: it is broken or too large.
        NoInput: the file cannot be read.
    """
    read_members = _zipped if archive.suffix in {".zip", ".whl"} else _tarred
    total = 0
    try:
        # A text that gzip cannot read is an OSError, too.
        with reading(archive):
            for name, size, content in read_members(archive):
                path = name.partition("/")[2] if pin.kind.has_outer_folder else name
                if not selects(pin.paths, path):
                    continue
                total += size
                if size > FILE_BYTES or total > TOTAL_BYTES:
                    raise BadArchive(f"too large at {path[:120]!r}", str(archive))
                yield path, content.read()
    except _BROKEN as error:
        message = f"a broken archive ({str(error) or type(error).__name__})"
        raise BadArchive(message, str(archive), "get it again") from error


def _tarred(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    # Not as a stream (`r|*`), which copies the rest at each read.
    with tarfile.open(archive) as tar:
        for member in tar:
            # The list of members only grows.
            tar.members = []  # type: ignore[attr-defined] # not in typeshed
            if member.isreg():
                content = cast("IO[bytes]", tar.extractfile(member))
                yield member.name, member.size, content


def _zipped(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as unzipped:
        for member in unzipped.infolist():
            if not member.is_dir():
                with unzipped.open(member) as content:
                    yield member.filename, member.file_size, content


def unpack(pin: ArchivePin, file: Path, packs: Path) -> Path:
    """Return the pack of an archive, whose files match the pin.

    Args:
        pin: The selected files, and their digest.
        file: The archive as it was published.
        packs: Where the pack is written.

    Raises:
        WrongDigest: the files differ from the pin.
        BadArchive: it cannot be read, or is too large.
        NoInput: no such file.
    """
    pack = make_pack(pin, file, packs)
    if pack.stem != pin.digest:
        pack.unlink()
        raise WrongDigest(
            f"{pin.name} is not what is pinned: sha256 over its selected files is "
            f"{pack.stem}, the pin says {pin.digest}",
            str(file),
            f"get the archive of {pin.commit}",
        )
    return pack


def make_pack(pin: ArchivePin, file: Path, packs: Path) -> Path:
    """Return the pack of an archive's selected files, whatever their digest."""
    if pin.kind is not ArchiveKind.HUB:
        return write_pack(packs, pin.name, read_archive(pin, file))
    with reading(file):
        content = refuse_large(file).read_bytes()
    return write_pack(packs, pin.name, [(pin.file, content)])
