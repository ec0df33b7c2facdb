"""Get an archive's files: from a mirror, the cache, or its publisher.

The result is the same pack in each case, verified against the pin. Content that
differs is refused, and no other place is tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from curation.core.documents import Origin
from curation.download.archives import unpack
from curation.download.cache import Cache
from curation.download.http import Network
from curation.download.packs import SUFFIX
from curation.download.pins import ArchiveKind, ArchivePin, load_pins
from curation.download.publishers import PublisherAddresses, fetched
from curation.system.errors import NoInput, TemporarilyUnavailable, Unavailable

__all__ = [
    "Acquired",
    "ArchiveKind",
    "ArchivePin",
    "FetchSettings",
    "UnavailableArchive",
    "acquire",
    "at_hand",
    "load_pins",
    "mirrored_file",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """Where to look, and whether to ask the network at all."""

    #: The folder that we may fill, and anyone may delete.
    cache: Path
    #: A folder of archives, asked first.
    mirror: Path | None = None
    #: Only the mirror and the cache.
    offline: bool = False
    #: The lock of schemas that are hosted outside their archive; one in the cache by
    #: default (`curation.sources.schemastore`).
    live_lock: Path | None = None
    #: Where publishers are asked.
    publishers: PublisherAddresses = field(default_factory=PublisherAddresses)
    #: Remembers hosts that do not answer: share it between calls.
    network: Network = field(default_factory=Network)

    @classmethod
    def from_environment(
        cls, *, mirror: Path | None = None, offline: bool = False
    ) -> FetchSettings:
        """Return the settings that the environment names; for commands alone.

        The cache is the folder that `CSBDATA_CACHE` names, else the user's own;
        `CSBDATA_LIVE_LOCK` names the lock of what is hosted outside an archive.

        Args:
            mirror: A folder of archives; by default the one that `CSBDATA_MIRROR`
                names.
            offline: Only the mirror and the cache.
        """
        cache = os.environ.get("CSBDATA_CACHE")
        named = os.environ.get("CSBDATA_MIRROR")
        lock = os.environ.get("CSBDATA_LIVE_LOCK")
        return cls(
            cache=Path(
                cache or platformdirs.user_cache_dir("csbdata", appauthor=False)
            ),
            mirror=mirror or (Path(named) if named else None),
            offline=offline,
            live_lock=Path(lock) if lock else None,
            publishers=PublisherAddresses.from_environment(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """An archive whose files are in the cache and are those of the pin."""

    archive: str
    #: The pack's file (`curation.download.packs.open_pack`).
    pack: Path
    origin: Origin
    #: How the bytes came here: mirror, cache, upstream or index.
    route: str
    #: Commit, revision or version.
    commit: str
    digest: str
    #: SPDX expression of the single files.
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnavailableArchive:
    """An archive that cannot be had here and now, and why."""

    archive: str
    why: str
    #: Who was to be asked for it: `GitHub`, `the Hub` or `the package index`.
    publisher: str
    #: 75 if the same command may succeed later, else 69.
    exit_code: int = 69


def acquire(
    pin: ArchivePin,
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> Acquired | UnavailableArchive:
    """Return the files of an archive by the best way, or why there is none.

    The ways in order: mirror, cache, upstream or index.

    Args:
        pin: Which archive, and what it must contain.
        settings: Where to look, and whether the network may be asked.
        say: Prints what takes time.

    Raises:
        WrongDigest: its content is not what the pin says.
        BadArchive: it cannot be read.
        NoInput: the mirror is no folder.
        CannotCreate: the cache cannot be written.

    Example:
        >>> got = acquire(load_pins()["schemastore"], FetchSettings(cache=folder))
        >>> got.pack if isinstance(got, Acquired) else got.why
    """
    cache = Cache(settings.cache)
    mirrored = mirrored_file(pin, settings.mirror)
    ready = _ready(pin, cache, mirrored)
    if ready and not cache.is_littered(pin.name):
        return ready
    if not ready and mirrored is None and settings.offline:
        why = f"{pin.name}: neither mirrored nor cached, and the network is not asked"
        return UnavailableArchive(
            archive=pin.name, why=why, publisher=pin.kind.publisher
        )
    with cache.lock(pin.name, say):
        # Another process may have been faster.
        ready = _ready(pin, cache, mirrored)
        if ready:
            return ready
        if mirrored is not None:
            say(f"{pin.name}: reading {mirrored}")
            pack = unpack(pin, mirrored, cache)
            cache.note(mirrored, pin.digest)
            return _acquired(pin, pack, "mirror")
        try:
            pack = fetched(pin, settings.network, settings.publishers, cache, say)
        except (Unavailable, TemporarilyUnavailable) as fault:
            why = f"{pin.name}: {fault}"
            return UnavailableArchive(
                archive=pin.name,
                why=why,
                publisher=pin.kind.publisher,
                exit_code=fault.exit_code,
            )
        return _acquired(pin, pack, "index" if pin.kind.is_package else "upstream")


def at_hand(pin: ArchivePin, settings: FetchSettings) -> str | None:
    """Return where an archive is, without reading it: mirror, cache or None."""
    if mirrored_file(pin, settings.mirror) is not None:
        return "mirror"
    pack = Cache(settings.cache).packs / f"{pin.digest}{SUFFIX}"
    return "cache" if pack.is_file() else None


def _ready(pin: ArchivePin, cache: Cache, mirrored: Path | None) -> Acquired | None:
    """Return the cached pack, if it is what the best way would give."""
    pack = cache.pack(pin.digest)
    if pack is None:
        return None
    if mirrored is None:
        return _acquired(pin, pack, "cache")
    if cache.has_seen(mirrored, pin.digest):
        return _acquired(pin, pack, "mirror")
    return None


def mirrored_file(pin: ArchivePin, mirror: Path | None) -> Path | None:
    """Return the archive's file in the mirror, or one folder below it."""
    if mirror is None:
        return None
    if not mirror.is_dir():
        raise NoInput("there is no such folder of archives", str(mirror))
    for name in pin.file_names:
        for file in (mirror / name, *sorted(mirror.glob(f"*/{name}"))):
            if file.is_file():
                return file
    return None


def _acquired(pin: ArchivePin, pack: Path, route: str) -> Acquired:
    origin = Origin.INDEX if pin.kind.is_package else Origin.UPSTREAM
    return Acquired(
        archive=pin.name,
        pack=pack,
        origin=origin,
        route=route,
        commit=pin.commit,
        digest=pin.digest,
        licence=pin.file_licence,
    )
