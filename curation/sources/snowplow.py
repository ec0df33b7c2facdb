"""Snowplow: 420 self-describing schemas of events.

`paper` reads the edited copies; `clean` reads Iglu Central itself, by pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.core.documents import RawDocument
from curation.sources.readers import EDITED, Reading, Source, documents, files_in, pairs

_NAME = "snowplow"
_CONFIG = "Snowplow"
_UPSTREAM = "iglu-central"
_FOLDER = "schemas/"


def _uri(path: str) -> str:
    return f"http://iglucentral.com/{path}"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `sp_<N>_Normalized`."""
    if reading.archive != _UPSTREAM:
        files = files_in(reading, f"{EDITED}/snowplow/dg", r"sp_[0-9]+_Normalized")
        return documents(reading, _NAME, _CONFIG, files)
    files = pairs(reading, "snowplow.tsv")
    return documents(reading, _NAME, _CONFIG, files, lambda _, path: _uri(path))


def uris(reading: Reading) -> Mapping[str, str]:
    """Return the Iglu URIs and the addresses of the upstream's files.

    `iglu:vendor/name/format/version` is Iglu's own scheme; the http addresses are
    those that the schemas refer to each other by.
    """
    if reading.archive != _UPSTREAM:
        return {}
    paths = {}
    for path in reading.files.paths:
        if path.startswith(_FOLDER) and "/jsonschema/" in path:
            paths["iglu:" + path.removeprefix(_FOLDER)] = path
            paths[_uri(path)] = path
            paths[_uri(path).replace("http:", "https:", 1)] = path
    return paths


SOURCE = Source(
    name=_NAME,
    title="Snowplow (Iglu Central)",
    configs=(_CONFIG,),
    archives={"paper": ("witness-generation",), "clean": (_UPSTREAM,)},
    read=read,
    uris=uris,
)
