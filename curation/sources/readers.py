"""Sources: readers of raw documents out of pinned archives, and their common parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard
from urllib.parse import quote

import msgspec
import orjson

from curation.core.benchmark import natural_key
from curation.core.documents import Provenance, RawDocument, Rejected
from curation.core.json_types import Json
from curation.json import text as jsontext
from curation.system.user_files import list_rows

if TYPE_CHECKING:
    from curation.core.documents import Files, Origin


#: Commit and licence of a row of the embedded sample, as its pin
#: names, and why a config of it is partial.
SAMPLE_COMMIT = "sample"
SAMPLE_LICENCE = "Apache-2.0"
SAMPLE_ATTRIBUTION = "The csbdata developers"
SAMPLE_REASON = "taken from the embedded sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Input of a reader: files, and facts about the archive."""

    files: Files
    #: Name of the archive in `raw/sources.toml`.
    archive: str
    #: Commit, revision or version: the row's `commit`.
    commit: str
    #: SPDX expression for the single files.
    licence: str
    #: SPDX expression of the archive as a whole.
    collection_licence: str = "NOASSERTION"
    origin: Origin
    #: Name of the rule set that asks.
    rules: str
    #: Folder of id lists and pairs: `raw/lists`, or the sample's own.
    lists: Path
    #: Config name that the user chose; only `local` reads it.
    config: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source: which archives it can be read from, and how."""

    name: str
    title: str
    #: The configs that it fills, in benchmark order.
    configs: tuple[str, ...]
    #: Rule set to the archives it can be read from, best first.
    archives: Mapping[str, tuple[str, ...]]
    #: Yield the raw documents in natural order of their ids.
    read: Callable[[Reading], Iterable[RawDocument]]
    #: Absolute URI (no fragment) to path, for references between documents.
    uris: Callable[[Reading], Mapping[str, str]] = lambda _reading: {}
    #: Archive to what it is known to lack.
    lacks: Mapping[str, str] = field(default_factory=dict)
    #: Outside the ten configs; only with `--with` or `--only`, unless `by_default`.
    extra: bool = False
    #: Read by every build of rule set `clean`, and none is partial without it.
    by_default: bool = False
    #: Each archive holds a part, and all are read; otherwise the first available.
    #: Their commits are `PACKAGE@VERSION`.
    in_parts: bool = False
    #: Maximum number of kept records, chosen by digest order; None for all.
    quota: int | None = None
    #: Kept records must have at least this field count.
    least_fields: int = 0


_JSON = ".json"
#: The member of a row that holds a schema.
_ROW_SCHEMA = "json_schema"
#: Folder of the archive `witness-generation` that holds the edited copies.
EDITED = "artifacts/JSONAlgebra/JsonSchema_To_Algebra/expDataset"
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_ID = 120
_MAX_NAME = 80


class Role(StrEnum):
    """What a schema is for."""

    ANSWER = "answer"
    """The answer of a model, or any value."""
    TOOL = "tool"
    """The parameters of a tool."""
    RESULT = "result"
    """What a tool returns to its client, which no provider sees."""


class NamedSchema(msgspec.Struct, frozen=True):
    """A named schema: a function's, a model's, an operation's."""

    name: str
    schema: Json
    #: A pointer to it in its file; empty where none is known.
    place: str = ""
    role: Role = Role.ANSWER
    #: Whether the request sends it with `strict`.
    strict: bool = False
    #: Names of tools of its list that have no schema; empty for a service's tool.
    lacking: tuple[str, ...] = ()
    #: Member of the schema for parts from elsewhere in its file, and their place.
    moved: tuple[str, str] = ("", "")
    #: By its pointer in the document, each part of another file: that file, and the
    #: pointer there.
    elsewhere: Mapping[str, tuple[Path, str]] = {}
    #: Pointer of the root in its file, if `place` only refers to it.
    root: str = ""


def as_rows(schemas: Iterable[NamedSchema]) -> bytes:
    r"""Return schemas as the rows of a JSONL file, which the source `local` reads.

    Example:
        >>> as_rows([NamedSchema(name="get weather", schema=True)])
        b'{"unique_id": "get_weather", "json_schema": true}\n'
    """
    lines = [
        jsontext.write(
            {"unique_id": plain_id(schema.name), "json_schema": schema.schema}
        )
        for schema in schemas
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def is_row(value: Json | Rejected) -> TypeGuard[dict[str, Json]]:
    """Return whether a value holds a schema as a row does.

    An answer's format, as the APIs of providers take it, also has a `json_schema`.
    """
    is_format = isinstance(value, dict) and value.get("type") == _ROW_SCHEMA
    return isinstance(value, dict) and _ROW_SCHEMA in value and not is_format


def is_one_schema(value: Json) -> bool:
    """Return whether a document is a row, or a file of MaskBench: schema and tests."""
    return is_row(value) or (isinstance(value, dict) and "tests" in value)


def plain_id(name: str) -> str:
    """Return a name with `_` for all but letters, digits, `_`, `.` and `-`."""
    return _NOT_IN_IDS.sub("_", name).strip("_")[:_MAX_ID] or "unnamed"


def function_name(definition: dict[str, Json]) -> str:
    """Return the name of a function definition, fit for an id."""
    name = definition.get("name")
    plain = _NOT_IN_IDS.sub("_", name)[:_MAX_NAME] if isinstance(name, str) else ""
    return plain or "unnamed"


def document(  # noqa: PLR0913 (one argument for each thing that a source knows)
    reading: Reading,
    *,
    source: str,
    config: str,
    unique_id: str,
    path: str,
    base_uri: str | None = None,
    content: bytes | None = None,
    licence: str | None = None,
    original: Mapping[str, str | None] | None = None,
) -> RawDocument:
    """Return the raw document of one file, or of `content`, a part of that file.

    `licence` replaces the archive's where the file has a licence, and
    `original` holds the fields `original_...` of `Provenance`, known of few.

    Raises:
        KeyError: the archive has no such path.
    """
    return RawDocument(
        config=config,
        unique_id=unique_id,
        provenance=Provenance(
            source=source,
            path=path,
            commit=reading.commit,
            licence=licence or reading.licence,
            collection_licence=reading.collection_licence,
            origin=reading.origin,
            **original or {},
        ),
        content=reading.files.read(path) if content is None else content,
        base_uri=base_uri,
    )


def pairs(reading: Reading, name: str) -> list[tuple[str, str]]:
    """Return the (id, path) pairs of a list, in natural order of the ids."""
    rows = list_rows(reading.lists / name)
    return sorted(
        ((unique_id, path) for unique_id, path in rows),
        key=lambda pair: natural_key(pair[0]),
    )


def files_in(reading: Reading, folder: str, name: str = r".+") -> list[tuple[str, str]]:
    """Return (id, path) of the `.json` files directly in a folder.

    An id is the file name without `.json`, wholly matched by the regular
    expression `name`; natural order of ids.
    """
    start, pattern = folder.rstrip("/") + "/", re.compile(name)
    files = [
        (path[len(start) : -len(_JSON)], path)
        for path in reading.files.paths
        if path.startswith(start) and path.endswith(_JSON)
    ]
    return sorted(
        (pair for pair in files if "/" not in pair[0] and pattern.fullmatch(pair[0])),
        key=lambda pair: natural_key(pair[0]),
    )


def documents(
    reading: Reading,
    source: str,
    config: str,
    files: list[tuple[str, str]],
    uri_of: Callable[[str, str], str | None] = lambda _id, _path: None,
) -> Iterator[RawDocument]:
    """Yield the documents of (id, path) pairs, each read when it is asked for.

    `uri_of` gives from id and path where the document's relative references start.
    """
    for unique_id, path in files:
        yield document(
            reading,
            source=source,
            config=config,
            unique_id=unique_id,
            path=path,
            base_uri=uri_of(unique_id, path),
        )


def own_uri(name: str, path: str) -> str:
    """Return an absolute URI for a file whose project gives it none.

    The host is under `.invalid`, which never resolves (RFC 2606 section 2).
    """
    return f"https://{name}.invalid/{quote(path)}"


# A cheap sieve: most documents claim nothing and are never parsed here.
_CLAIM = re.compile(rb'"\$?id"\s*:\s*"https?:', re.IGNORECASE)
_ABSOLUTE = re.compile(r"https?://[^/?#]", re.IGNORECASE)


def claimed_uri(content: bytes) -> str | None:
    """Return the absolute http(s) URI, without fragment, that a document claims.

    `$id` counts before `id`. None if it is missing, its fragment is not empty, or the
    text cannot be read.
    """
    if not (b'id"' in content and _CLAIM.search(content)):
        return None
    try:
        schema = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(schema, dict):
        return None
    claims = (schema.get("$id"), schema.get("id"))
    claim = next((claimed for claimed in claims if isinstance(claimed, str)), None)
    if claim is None or not _ABSOLUTE.match(claim):
        return None
    uri, _, fragment = claim.partition("#")
    return None if fragment else uri


def claimed_uris(read: Callable[[str], bytes], paths: Iterable[str]) -> dict[str, str]:
    """Return the URI to path of every document that alone claims its URI.

    Copies, equal byte for byte, count as one document with the first path of
    them. A URI that two different documents claim leads nowhere.

    Args:
        read: Returns the JSON text of a path.
        paths: The documents' paths.
    """
    claims: dict[str, tuple[str, bytes]] = {}
    contested: set[str] = set()
    for path in paths:
        content = read(path)
        uri = claimed_uri(content)
        if uri is None:
            continue
        import hashlib  # noqa: PLC0415 - takes 5 ms

        digest = hashlib.sha256(content).digest()
        if claims.setdefault(uri, (path, digest))[1] != digest:
            contested.add(uri)
    return {uri: path for uri, (path, _) in claims.items() if uri not in contested}
