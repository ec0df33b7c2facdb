"""An archive's file becomes a pack, or is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.download.archive_reader import ArchiveLimits, read_archive
from curation.download.packs import SUFFIX, open_pack, write_pack
from curation.download.pins import ArchiveKind, ArchivePin
from curation.system.errors import BadArchive, NoInput, WrongDigest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.download.cache import Cache

#: Bytes of a single published file; the one that is pinned has some 270 MB.
LARGEST_FILE: Final = 1 << 30
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
            evidence (exit 65).
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
        BadArchive: it cannot be read, or holds too much (exit 65).
        NoInput: there is no such file (exit 66).
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
        if file.stat().st_size > LARGEST_FILE:
            what = f"larger than {LARGEST_FILE:,} bytes"
            raise BadArchive(what, str(file), "refused")
        yield name, file.read_bytes()
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
    return f"the {len(pack)} selected files{note}"
