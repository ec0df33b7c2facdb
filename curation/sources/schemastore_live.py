"""Fetch and lock SchemaStore's entries that are hosted elsewhere.

Each such address of the pinned catalogue is requested; the answer goes into the cache,
its digest into a lock file (`curation.sources.schemastore`). The same command continues
and retries what failed, and never replaces what is locked: to lock anew, delete the
lock file and `live/` of the cache.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from curation.download.acquire import Acquired, FetchSettings, acquire, load_pins
from curation.download.cache import Cache
from curation.download.http import download
from curation.download.packs import open_pack
from curation.sources.schemastore import (
    catalogue,
    hosted_elsewhere,
    live_path,
    lock_path,
    read_lock,
    write_lock,
)
from curation.system.checksums import file_digest
from curation.system.errors import CsbdataError, Unavailable
from curation.system.progress import Progress, announce
from curation.system.words import counted

ARCHIVE: Final = "schemastore"
_CATALOGUE: Final = "src/api/json/catalog.json"
#: Hosts that are asked at the same time; each is asked one thing at a time.
_HOSTS_AT_ONCE: Final = 8
#: Seconds between two requests to one host.
PAUSE: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSchemas:
    """The outcome of each address: its sha256, or why it failed."""

    locked: dict[str, str]
    failures: dict[str, str]


def fetch_live(settings: FetchSettings, progress: Progress) -> LiveSchemas:
    """Try every entry hosted elsewhere, and lock the answers.

    Args:
        settings: The cache, the lock, and whether the network may be used.
        progress: Prints what takes time, and how many addresses are done.

    Raises:
        Unavailable: SchemaStore itself is unavailable, the network must not be used,
            or something locked is no longer available as it was locked.
        BadConfiguration: the lock cannot be read.
    """
    got = acquire(load_pins()[ARCHIVE], settings, progress.say)
    if not isinstance(got, Acquired):
        raise Unavailable(got.why)
    if settings.offline:
        raise Unavailable("--live asks the network, --offline forbids it")
    path = lock_path(settings)
    urls = hosted_elsewhere(catalogue(open_pack(got.pack).read(_CATALOGUE)))
    with Cache(settings.cache).lock(f"{ARCHIVE}-live", progress.say):
        old = read_lock(path)
        failures = _ask_all(settings, sorted({*urls, *old}), old, progress)
        missing = [url for url in old if url in failures]
        if missing:
            raise Unavailable(
                f"lacks {counted(len(missing), 'locked schema')}: {missing[0]} "
                f"({failures[missing[0]]})",
                str(path),
                "the same command tries again; to lock anew, delete the lock file",
            )
        locked = {
            url: file_digest(settings.cache / live_path(url))
            for url in sorted({*urls, *old} - failures.keys())
        }
        write_lock(path, locked)
    return LiveSchemas(locked=locked, failures=dict(sorted(failures.items())))


def _ask_all(
    settings: FetchSettings, urls: list[str], old: dict[str, str], progress: Progress
) -> dict[str, str]:
    """Fetch what the cache lacks; return the reason for each address that failed."""
    by_host: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        by_host[urlsplit(url).netloc].append(url)
    failures: dict[str, str] = {}
    stop = threading.Event()

    def ask_host(urls: list[str], advance: Callable[[int], None]) -> None:
        for url in urls:
            if stop.is_set():
                return
            file = settings.cache / live_path(url)
            asks = not file.is_file()
            try:
                download(url, file, old.get(url, ""))
            except CsbdataError as fault:
                failures[url] = fault.what
            if asks:
                time.sleep(PAUSE)
            advance(1)

    title = "Asking SchemaStore's other hosts"
    longest = max(map(len, by_host.values()), default=0)
    by = f"at least: one host has {longest:,}"
    announce(progress, title, longest * PAUSE, by)
    with (
        progress.bar(title, len(urls)) as advance,
        ThreadPoolExecutor(_HOSTS_AT_ONCE) as hosts,
    ):
        requests = [hosts.submit(ask_host, urls, advance) for urls in by_host.values()]
        try:
            for request in requests:
                request.result()
        finally:
            stop.set()
    return failures
