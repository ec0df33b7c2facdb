"""GitHub: 6,335 schemas of a corpus of 82,094 collected from GitHub.

`paper` reads the edited copies of the paper's authors; `clean` reads the corpus itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from curation.core.benchmark import UNDIVIDED
from curation.core.documents import Origin, RawDocument
from curation.sources.readers import (
    EDITED,
    Reading,
    Source,
    claimed_uri,
    claimed_uris,
    document,
    files_in,
)
from curation.system.user_files import list_rows

_NAME = "github"
#: Our list of licences, among the lists of ids: repository, SPDX expression, and where
#: that was seen, with tabs between.
LICENCES = "repository_licences.tsv"
#: Our list of addresses below which a repository publishes its schemas: the address
#: without scheme, the repository, and where that was seen, with tabs between.
ADDRESSES = "repository_addresses.tsv"
# Only letters that GitHub takes in names, so that no text of a stranger's gets further.
_ADDRESS = re.compile(
    r"https?://(?P<host>(?:www\.|raw\.)?github\.com|raw\.githubusercontent\.com"
    r"|(?:cdn\.)?rawgit\.com|rawgithub\.com|cdn\.jsdelivr\.net/gh)"
    r"/(?P<owner>[a-z0-9](?:-?[a-z0-9])*)/(?P<name>[\w.-]+)(?:@(?P<tag>[^/?#]*))?"
    r"(?:/(?P<rest>[^?#]*))?(?:[?#]|$)",
    re.IGNORECASE | re.ASCII,
)


def repository_at(address: str) -> str | None:
    """Return `https://github.com/OWNER/NAME` of an address there; None for others.

    Addresses of raw files count, also addresses of services that passed them on
    (RawGit, jsDelivr).
    """
    match = _ADDRESS.match(address)
    if match is None:
        return None
    name = match["name"].removesuffix(".git")
    return f"https://github.com/{match['owner']}/{name}" if name.strip(".") else None


def file_at(address: str) -> tuple[str, str] | None:
    """Return the revision and the path of a file at GitHub; None for other addresses.

    Example:
        >>> file_at("https://github.com/o/n/blob/v2/a/b.json")
        ('v2', 'a/b.json')
    """
    match = _ADDRESS.match(address)
    if match is None:
        return None
    revision, remainder = match["tag"], match["rest"] or ""
    if match["host"].lower() in {"github.com", "www.github.com"}:
        view, _, remainder = remainder.partition("/")
        if view not in {"blob", "raw"}:
            return None
    if revision is None:
        revision, _, remainder = remainder.removeprefix("refs/heads/").partition("/")
    return (revision, remainder) if revision and remainder else None


def claimed_origin(
    content: bytes, addresses: Mapping[str, str]
) -> dict[str, str | None]:
    """Return the repository that a schema's own `$id` or `id` leads to.

    Path and revision come with it where the identifier is an address of the file.

    Args:
        content: The schema's text.
        addresses: Address without scheme to the repository that publishes below it.
    """
    uri = claimed_uri(content)
    if uri is None:
        return {}
    repository = repository_at(uri)
    if repository is None:
        place = uri.partition("://")[2]
        published = (
            addresses[prefix] for prefix in addresses if place.startswith(prefix)
        )
        return {"original_repository": next(published, None)}
    revision, path = file_at(uri) or (None, None)
    return {
        "original_repository": repository,
        "original_path": path,
        "original_revision": revision,
    }


def listed(lists: Path, name: str) -> dict[str, str]:
    """Return the first column of one of our lists to the second.

    Raises:
        OSError: the list is not there.
    """
    return {row[0]: row[1] for row in list_rows(lists / name)}


def _files(reading: Reading) -> list[tuple[str, str]]:
    if reading.archive == "witness-generation":
        return files_in(reading, f"{EDITED}/github/sat", r"o[0-9]+")
    rows = list_rows(reading.lists / "github.txt")
    numbers = sorted(int(number) for (number,) in rows)
    return [
        (f"o{number}", f"json_schema_corpus/pp_{number}.json") for number in numbers
    ]


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `o<N>`, which is `pp_<N>.json` of the corpus.

    A file's licence is the archive's own where that has one for single files, and
    where nothing is known of the repository.
    """
    # The sample was written for this project, whatever its identifiers name.
    is_sample = reading.origin is Origin.SAMPLE
    licences: dict[str, str] = {}
    addresses: dict[str, str] = {}
    if reading.licence == "NOASSERTION" and not is_sample:
        licences = listed(reading.lists, LICENCES)
        addresses = listed(reading.lists, ADDRESSES)
    by_folded_name = {name.casefold(): own for name, own in licences.items()}
    for unique_id, path in _files(reading):
        content = reading.files.read(path)
        original = {} if is_sample else claimed_origin(content, addresses)
        repository = original.get("original_repository") or ""
        yield document(
            reading,
            source=_NAME,
            # Until the field count of a document has put it into one of the five.
            config=UNDIVIDED,
            unique_id=unique_id,
            path=path,
            content=content,
            licence=by_folded_name.get(repository.casefold()),
            original=original,
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
