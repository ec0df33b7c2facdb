"""The whole corpus of schemas collected from GitHub: 82,094 files, many copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.core.documents import RawDocument
from curation.sources.readers import Reading, Source, claimed_uris, documents, files_in

_NAME = "corpus"
_CONFIG = "GithubCorpus"


def _files(reading: Reading) -> list[tuple[str, str]]:
    return files_in(reading, "json_schema_corpus", r"pp_[0-9]+")


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `pp_<N>`, the name of the file."""
    return documents(reading, _NAME, _CONFIG, _files(reading))


def uris(reading: Reading) -> Mapping[str, str]:
    """Return the URIs that exactly one of the documents claims as its own."""
    return claimed_uris(reading.files.read, (path for _, path in _files(reading)))


SOURCE = Source(
    name=_NAME,
    title="The whole JSON Schema Corpus",
    configs=(_CONFIG,),
    archives={"paper": ("json-schema-corpus",), "clean": ("json-schema-corpus",)},
    read=read,
    uris=uris,
    extra=True,
)
