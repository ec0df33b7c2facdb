"""Get an archive's files: from the cache, a mirror or its publisher.

The result is the same pack of the selected files in each case, verified against the
pin. Content that differs is refused, and no other way is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import NamedTuple
from urllib.parse import quote

from curation.core.documents import Origin
from curation.download.archives import unpack
from curation.download.cache import Cache, FetchSettings
from curation.download.http import Unreachable, download
from curation.download.packages import download_package, run_client
from curation.download.packs import SUFFIX, cached_pack
from curation.download.pins import ArchiveKind, ArchivePin
from curation.system.atomic_files import writing
from curation.system.errors import (
    CsbdataError,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.user_files import file_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """An archive whose files are in the cache and match the pin."""

    archive: str
    #: The pack's file (`curation.download.packs.open_pack`).
    pack: Path
    origin: Origin
    #: How the bytes came here: cache, mirror, upstream or index.
    route: str
    #: Commit, revision or version.
    commit: str
    digest: str
    #: SPDX expression of the single files.
    licence: str


class UnavailableArchive(NamedTuple):
    """An archive that is unavailable here and now, and why."""

    archive: str
    reason: str
    #: The requested address; empty if none.
    address: str = ""
    #: 75 if the same command may succeed later, otherwise 69.
    exit_code: int = 69

    @property
    def why(self) -> str:
        """The archive, the address and the reason, as one line."""
        return ": ".join(filter(None, (self.archive, self.address, self.reason)))


def acquire(
    pin: ArchivePin,
    settings: FetchSettings,
    log: Callable[[str], None] = lambda _message: None,
) -> Acquired | UnavailableArchive:
    """Return the files of an archive, or why they are unavailable.

    The cache comes first, then the mirror, then the publisher.

    Args:
        pin: Which archive, and what it must contain.
        settings: Where to look, and whether the network may be used.
        log: Prints slow steps.

    Raises:
        WrongDigest: its content differs from the pin.
        BadArchive: it cannot be read.
        NoInput: the mirror is not a folder.
        CannotCreate: the cache cannot be written.

    Example:
        >>> got = acquire(load_pins()["schemastore"], FetchSettings(cache=folder))
        >>> got.pack if isinstance(got, Acquired) else got.why
    """
    cache = Cache(settings.cache)
    mirrored = mirrored_file(pin, settings.mirror)
    publisher = pin.kind.publisher

    def acquired(pack: Path, route: str) -> Acquired:
        return Acquired(
            archive=pin.name,
            pack=pack,
            origin=Origin.INDEX if pin.kind.is_package else Origin.UPSTREAM,
            route=route,
            commit=pin.commit,
            digest=pin.digest,
            licence=pin.file_licence,
        )

    if pack := cached_pack(cache.packs, pin.digest):
        # Left by a killed process.
        cache.clear_downloads(pin.name)
        return acquired(pack, "cache")
    if mirrored is None and (settings.offline or publisher in settings.silent):
        reason = f"{publisher} did not answer before"
        if settings.offline:
            reason = "neither mirrored nor cached, and the network is not asked"
        return UnavailableArchive(archive=pin.name, reason=reason)
    with cache.lock(pin.name, log):
        # Another process may have been faster.
        if pack := cached_pack(cache.packs, pin.digest):
            return acquired(pack, "cache")
        if mirrored is not None:
            log(f"{pin.name}: reading {mirrored}")
            return acquired(unpack(pin, mirrored, cache.packs), "mirror")
        try:
            pack = unpack(pin, fetch_archive(pin, settings, log), cache.packs)
        except (Unavailable, TemporarilyUnavailable) as fault:
            if isinstance(fault, Unreachable):
                settings.silent.add(publisher)
            return UnavailableArchive(
                archive=pin.name,
                reason=str(CsbdataError(fault.message, hint=fault.hint)),
                address=fault.where,
                exit_code=fault.exit_code,
            )
        finally:
            cache.clear_downloads(pin.name)
    return acquired(pack, "index" if pin.kind.is_package else "upstream")


def fetch_together(
    pins: Iterable[ArchivePin], settings: FetchSettings, log: Callable[[str], None]
) -> None:
    """Put packages into the cache, many by one call of their client.

    To start npm or pip takes longer than to fetch a package. What does not come is left
    to `acquire`, which reports the reason.

    Args:
        pins: Archives; those at hand, and those outside packages, are skipped.
        settings: Places of archives.
        log: Prints slow steps.

    Raises:
        CannotCreate: the cache cannot be written.
    """
    by_kind: dict[ArchiveKind, list[ArchivePin]] = {}
    for pin in () if settings.offline else pins:
        if pin.kind.is_package and at_hand(pin, settings) is None:
            by_kind.setdefault(pin.kind, []).append(pin)
    cache = Cache(settings.cache)
    for kind, group in by_kind.items():
        if len(group) == 1 or kind.publisher in settings.silent:
            continue
        name = f"packages-{kind}"
        log(f"{group[0].name} and {len(group) - 1} more: fetching")
        with cache.lock(name, log):
            folder = cache.downloads / name
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            # `acquire` reports the failure of each.
            with suppress(Unavailable, TimeoutExpired):
                run_client(group, folder)
            for pin in group:
                file = folder / pin.file
                if file.is_file() and file_digest(file) == pin.sha256:
                    unpack(pin, file, cache.packs)
            cache.clear_downloads(name)


def fetch_archive(
    pin: ArchivePin, settings: FetchSettings, log: Callable[[str], None]
) -> Path:
    """Return the file of an archive from its publisher; the caller has its lock.

    It is verified against the pin's sha256, if there is one, and not yet against its
    digest.

    Raises:
        Unavailable: the publisher does not have it, or does not answer.
        TemporarilyUnavailable: the publisher limits the rate.
        WrongDigest: it has another sha256.
        CannotCreate: the cache cannot be written.
    """
    log(f"{pin.name}: fetching {pin.repository} at {pin.commit}")
    folder = Cache(settings.cache).downloads / pin.name
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if pin.kind.is_package:
        return download_package(pin, folder)
    file = folder / pin.file_names[0]
    url = f"{settings.github}/{pin.repository}/tar.gz/{pin.commit}"
    if pin.kind is ArchiveKind.HUB:
        from huggingface_hub import constants  # noqa: PLC0415 (slow)

        if constants.HF_HUB_OFFLINE:
            raise Unavailable("HF_HUB_OFFLINE is set", pin.name, "unset it")
        path = f"{pin.repository}/resolve/{pin.commit}/{quote(pin.file)}"
        url = f"{constants.ENDPOINT}/datasets/{path}"
    download(url, file, pin.sha256)
    return file


def at_hand(pin: ArchivePin, settings: FetchSettings) -> str | None:
    """Return where an archive is, without reading it: mirror, cache or None."""
    if mirrored_file(pin, settings.mirror) is not None:
        return "mirror"
    pack = Cache(settings.cache).packs / f"{pin.digest}{SUFFIX}"
    return "cache" if pack.is_file() else None


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
