"""Asking those who publish an archive."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from curation.download.allowed_hosts import HostPolicy
from curation.download.npm import download_npm_package
from curation.download.pinned_archive import unpack
from curation.download.pins import ArchiveKind, ArchivePin
from curation.download.pip import download_package
from curation.system.atomic_files import cannot_write
from curation.system.errors import BadArchive, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.download.cache import Cache
    from curation.download.http import Network

_GITHUB: Final = "https://codeload.github.com"
_GITHUB_HOSTS: Final = frozenset({"codeload.github.com", "github.com"})
_HUB: Final = "https://huggingface.co"
#: The Hub's own, and those that it keeps large files on.
_HUB_HOSTS: Final = frozenset({"huggingface.co", ".huggingface.co", ".hf.co"})
#: A tarball that arrives cut or damaged is asked for this many times.
_ATTEMPTS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherAddresses:
    """The addresses that a user puts in place of the publishers' own."""

    #: Without a slash at the end; empty for the usual one.
    github: str = ""
    hub: str = ""
    #: Whether the Hub must not be asked.
    hub_offline: bool = False

    @classmethod
    def from_environment(cls) -> PublisherAddresses:
        """Return what the environment names; for commands alone.

        `CSBDATA_GITHUB_BASE`, and the Hub's own `HF_ENDPOINT` and `HF_HUB_OFFLINE`.
        """
        return cls(
            github=os.environ.get("CSBDATA_GITHUB_BASE", "").rstrip("/"),
            hub=os.environ.get("HF_ENDPOINT", "").rstrip("/"),
            hub_offline=os.environ.get("HF_HUB_OFFLINE", "") not in {"", "0"},
        )

    def address(self, pin: ArchivePin) -> tuple[str, HostPolicy]:
        """Return where an archive is published, and the hosts that may be asked."""
        if pin.kind is ArchiveKind.GITHUB:
            url = f"{self.github or _GITHUB}/{pin.repository}/tar.gz/{pin.commit}"
            return url, HostPolicy(hosts=_GITHUB_HOSTS, base=self.github)
        path = f"datasets/{pin.repository}/resolve/{pin.commit}/{quote(pin.file)}"
        policy = HostPolicy(hosts=_HUB_HOSTS, base=self.hub)
        return f"{self.hub or _HUB}/{path}", policy


def fetched(
    pin: ArchivePin,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    """Return the pack of an archive as its publisher gives it.

    The caller holds the archive's lock.

    Raises:
        Unavailable: it cannot be had (exit 69).
        TemporarilyUnavailable: it cannot be had now (exit 75).
        WrongDigest: it is not what is pinned; the evidence is kept (exit 65).
        BadArchive: it cannot be read; the evidence is kept (exit 65).
    """
    with _folder_of(pin, cache) as folder:
        for attempt in range(1, _ATTEMPTS + 1):
            file = _got(pin, folder, network, addresses, cache, say)
            try:
                return unpack(pin, file, cache)
            except BadArchive as error:
                if attempt == _ATTEMPTS:
                    evidence = cache.refuse(file, file.name)
                    then = f"refused, kept as {evidence}"
                    raise BadArchive(error.what, pin.name, then) from error
                say(f"{pin.name}: {error.what}; asking once more")
    raise AssertionError  # the loop returns or raises


@contextmanager
def downloaded(
    pin: ArchivePin,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Iterator[Path]:
    """Give the file of an archive as its publisher gives it; removed at the end.

    It is held against the pin's sha256, where there is one, and not against its
    digest. The caller holds the archive's lock.

    Raises:
        Unavailable: it cannot be had (exit 69).
        TemporarilyUnavailable: it cannot be had now (exit 75).
        WrongDigest: it has not the sha256 of the pin (exit 65).
    """
    with _folder_of(pin, cache) as folder:
        yield _got(pin, folder, network, addresses, cache, say)


@contextmanager
def _folder_of(pin: ArchivePin, cache: Cache) -> Iterator[Path]:
    """Give the folder into which an archive is downloaded; emptied at the end."""
    folder = cache.downloads / pin.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield folder
    finally:
        cache.clear_downloads(pin.name)


def _got(  # noqa: PLR0913, PLR0917 (what a download needs)
    pin: ArchivePin,
    folder: Path,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    say(f"{pin.name}: fetching {pin.repository} at {pin.commit}")
    if pin.kind is ArchiveKind.NPM:
        return download_npm_package(pin, folder, network, cache)
    if pin.kind.is_package:
        return download_package(pin, folder, network, cache)
    return _download(pin, folder, network, addresses, say)


def _download(
    pin: ArchivePin,
    folder: Path,
    network: Network,
    addresses: PublisherAddresses,
    say: Callable[[str], None],
) -> Path:
    if pin.kind is ArchiveKind.HUB and addresses.hub_offline:
        raise Unavailable("HF_HUB_OFFLINE is set", pin.name, "unset it")
    url, policy = addresses.address(pin)
    file = folder / pin.file_names[0]
    network.download(url, file, policy, say)
    return file
