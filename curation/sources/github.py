"""GitHub: 6,335 schemas of a corpus of 82,094 collected from GitHub.

`paper` reads the edited copies of the paper's authors; `clean` reads the corpus itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from curation.core.benchmark import UNDIVIDED
from curation.core.documents import RawDocument
from curation.sources.base import Reading, Source
from curation.sources.claims import COLLECTED, OriginalRepositories, claimed_uris
from curation.sources.readers import EDITED, document, files_in, lines

#: The config until the field count of a document has put it into one of the five.
CONFIG = UNDIVIDED
_NAME = COLLECTED


def _files(reading: Reading) -> list[tuple[str, str]]:
    if reading.archive == "witness-generation":
        return files_in(reading, f"{EDITED}/github/sat", r"o[0-9]+")
    numbers = sorted(int(number) for number in lines(reading.lists, "github.txt"))
    return [
        (f"o{number}", f"json_schema_corpus/pp_{number}.json") for number in numbers
    ]


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `o<N>`, which is `pp_<N>.json` of the corpus."""
    repositories = OriginalRepositories(reading)
    for unique_id, path in _files(reading):
        content = reading.files.read(path)
        repository = repositories.of(content)
        yield document(
            reading,
            source=_NAME,
            config=CONFIG,
            unique_id=unique_id,
            path=path,
            content=content,
            licence=repositories.licence(repository),
            original_repository=repository,
        )


def uris(reading: Reading) -> Mapping[str, str]:
    """Return the URIs that exactly one of the documents claims as its own."""
    return claimed_uris(reading.files.read, (path for _, path in _files(reading)))


SOURCE = Source(
    name=_NAME,
    title="GitHub (JSON Schema Corpus)",
    configs=(
        "Github_trivial",
        "Github_easy",
        "Github_medium",
        "Github_hard",
        "Github_ultra",
    ),
    archives={"paper": ("witness-generation",), "clean": ("json-schema-corpus",)},
    read=read,
    uris=uris,
)
