"""Fetch and lock SchemaStore's entries that are hosted elsewhere.

Each such address of the pinned catalogue is requested; the answer goes to a pack of
the cache and to a lock file (`curation.sources.schemastore`). The same command
continues and retries what failed, and never replaces what is locked: to lock anew,
delete the lock file.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import orjson

from curation.download.acquire import Acquired, FetchSettings, acquire, load_pins
from curation.download.allowed_hosts import HostPolicy
from curation.download.cache import Cache
from curation.download.http import FetchLimits, Network
from curation.download.packs import open_pack, write_pack
from curation.sources.schemastore import (
    FailedAddress,
    LiveLock,
    LockedSchema,
    digest_over,
    hosted_elsewhere,
    live_path,
    read_lock,
    unique_ids,
    write_lock,
)
from curation.system.atomic_files import replace_file
from curation.system.errors import CsbdataError, Unavailable
from curation.system.progress import Progress, announce
from curation.system.words import counted

ARCHIVE: Final = "schemastore"
_CATALOGUE: Final = "src/api/json/catalog.json"
#: A schema of more bytes than this is none that a benchmark can use.
LIMITS: Final = FetchLimits(
    total=60.0, longest_wait=30.0, attempts=2, body_bytes=16 << 20
)
#: Hosts that are asked at the same time; each is asked one thing at a time.
_HOSTS_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFetch:
    """What is looked for, where it is put, and how politely."""

    settings: FetchSettings
    lock: Path
    network: Network = field(default_factory=lambda: Network(limits=LIMITS))
    #: Seconds between two questions to one host.
    pause: float = 0.2
    #: In place of the hosts that the catalogue lists; for tests.
    policy: HostPolicy | None = None


def fetch_live(fetch: LiveFetch, progress: Progress) -> LiveLock:
    """Try every entry hosted elsewhere; write the lock and return it.

    An address that fails is listed in the lock.

    Args:
        fetch: What is fetched, and how patiently.
        progress: Prints what takes time, and how many addresses are done.

    Raises:
        Unavailable: SchemaStore itself cannot be had, or the network must not be
            asked, or something locked cannot be had as it was locked.
        BadConfiguration: there is a lock of another commit.
    """
    pin = load_pins()[ARCHIVE]
    got = acquire(pin, fetch.settings, progress.say)
    if not isinstance(got, Acquired):
        raise Unavailable(got.why)
    if fetch.settings.offline:
        raise Unavailable("--live asks the network, --offline forbids it")
    content = orjson.loads(open_pack(got.pack).read(_CATALOGUE))
    catalogue = list(dict.fromkeys(entry["url"] for entry in content["schemas"]))
    cache = Cache(fetch.settings.cache)
    with cache.lock(f"{ARCHIVE}-live", progress.say):
        old = read_lock(fetch.lock, pin.commit)
        arrived = _ArrivedSchemas.open(cache, old)
        failures = _ask_all(fetch, catalogue, arrived, progress)
        lock = _lock_of(catalogue, arrived, failures, pin.commit)
        if missing := arrived.missing():
            why = failures.get(missing[0], "no longer in the catalogue")
            raise Unavailable(
                f"lacks {counted(len(missing), 'locked schema')}: {missing[0]} ({why})",
                str(fetch.lock),
                "the same command tries again; to lock anew, delete the lock file",
            )
        write_pack(cache.packs, f"{ARCHIVE}-live", arrived.contents(lock.schemas))
        write_lock(fetch.lock, lock)
        arrived.clear()
    return lock


@dataclass(frozen=True, slots=True)
class _ArrivedSchemas:
    """The contents that are there so far: one file an address, each whole."""

    folder: Path
    #: Address to the sha256 that it must have.
    locked: dict[str, str]

    @classmethod
    def open(cls, cache: Cache, old: LiveLock | None) -> _ArrivedSchemas:
        """Put what is locked, and in the cache, on the arrived."""
        arrived = cls(
            cache.folder / "live",
            {schema.url: schema.sha256 for schema in old.schemas} if old else {},
        )
        arrived.folder.mkdir(parents=True, exist_ok=True)
        pack = cache.pack(old.digest) if old else None
        if pack is not None:
            pack_files = open_pack(pack)
            for url in arrived.locked:
                arrived.place(url).write_bytes(pack_files.read(live_path(url)))
        return arrived

    def place(self, url: str) -> Path:
        """Return the file of an address."""
        return self.folder / live_path(url).rpartition("/")[2]

    def holds(self, url: str) -> bool:
        """Return whether the right content is there."""
        file = self.place(url)
        if not file.is_file():
            return False
        return self.locked.get(url) in {None, _sha256(file)}

    def missing(self) -> list[str]:
        """Return the locked addresses whose content is not there."""
        return [url for url in self.locked if not self.holds(url)]

    def contents(self, schemas: Iterable[LockedSchema]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content for the pack."""
        for schema in schemas:
            yield live_path(schema.url), self.place(schema.url).read_bytes()

    def clear(self) -> None:
        """Remove all files: they are in the pack."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _ask_all(
    fetch: LiveFetch, catalogue: list[str], arrived: _ArrivedSchemas, progress: Progress
) -> dict[str, str]:
    """Fetch what has not arrived; return the reason for each address that failed."""
    policy = fetch.policy or HostPolicy(
        hosts=frozenset(urlsplit(url).hostname or "" for url in catalogue)
    )
    by_host: dict[str, list[str]] = defaultdict(list)
    addresses = hosted_elsewhere(catalogue)
    for url in addresses:
        by_host[urlsplit(url).netloc].append(url)
    failures: dict[str, str] = {}
    stop = threading.Event()

    def ask_host(urls: list[str], advance: Callable[[int], None]) -> None:
        for url in urls:
            if stop.is_set():
                return
            if not arrived.holds(url):
                why = _ask(fetch.network, url, arrived, policy)
                if why:
                    failures[url] = why
                time.sleep(fetch.pause)
            advance(1)

    title = "Asking SchemaStore's other hosts"
    most = max(map(len, by_host.values()), default=0)
    announce(progress, title, most * fetch.pause, f"at least: one host has {most:,}")
    with (
        progress.bar(
            title, len(addresses), found=sum(map(arrived.holds, addresses))
        ) as advance,
        ThreadPoolExecutor(_HOSTS_AT_ONCE) as hosts,
    ):
        requests = [hosts.submit(ask_host, urls, advance) for urls in by_host.values()]
        try:
            for done in requests:
                done.result()
        finally:
            stop.set()
    return failures


def _ask(
    network: Network, url: str, arrived: _ArrivedSchemas, policy: HostPolicy
) -> str:
    place = arrived.place(url)
    arriving = place.with_name(f".{place.name}")
    try:
        network.download(url, arriving, policy, lambda _message: None)
        expected = arrived.locked.get(url)
        digest = _sha256(arriving)
        if expected not in {None, digest}:
            return f"has changed since it was locked: sha256 is {digest}"
        replace_file(arriving, place)
    except CsbdataError as fault:
        return fault.what
    finally:
        arriving.unlink(missing_ok=True)
    return ""


def _lock_of(
    catalogue: list[str],
    arrived: _ArrivedSchemas,
    failures: dict[str, str],
    commit: str,
) -> LiveLock:
    ids = unique_ids(catalogue)
    schemas = tuple(
        LockedSchema(
            url=url,
            unique_id=ids[url],
            sha256=_sha256(arrived.place(url)),
            bytes=arrived.place(url).stat().st_size,
        )
        for url in sorted(hosted_elsewhere(catalogue))
        if arrived.holds(url)
    )
    return LiveLock(
        commit=commit,
        digest=digest_over(schemas),
        schemas=schemas,
        failures=tuple(
            FailedAddress(url=url, why=failures[url]) for url in sorted(failures)
        ),
    )


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
