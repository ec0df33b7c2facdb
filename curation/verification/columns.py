"""What the columns of a record mean, read plainly, to compare a build with.

A build computes them in shared walks, with caches; here each column is read by itself,
from the schema and its dialect. Canonical form, metaschemas, lints and liveness have
one definition each, and are not written twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b, sha256
from itertools import chain
from typing import cast

from curation.core.benchmark import measure_size, split_bounds
from curation.core.json_types import Json, UntypedJson
from curation.json import text as jsontext
from curation.lint.liveness import liveness
from curation.references.reachable import is_recursive
from curation.schema.dialects import DIALECTS, Dialect
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
    Shape,
)
from curation.schema.subschemas import STRIPPED
from curation.system.user_files import raw_folder
from curation.validation.metaschemas import is_valid

#: Odd numbers that order shingles, and deal the least of a record to a split.
_ORDER, _DEAL = 0x3C30EE25632FB989, 0x392E63B3C91C0947
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_COMBINING = {"allOf", "anyOf", "oneOf"}
#: Keywords that do not constrain instances.
_SILENT = (ANNOTATIONS - {"format", "$schema"}) | CONTAINERS
#: Keywords in nearly every schema, which the paper does not count as features.
_COMMON = _SILENT | {"type", "properties", "$schema", "$id", "id", "$vocabulary"}


def columns(
    schema: Json, bare: Json, dialect: Dialect, *, paper: bool
) -> dict[str, UntypedJson]:
    """Return the columns that follow from a schema and its dialect.

    Args:
        schema: The schema.
        bare: Its `skeleton`.
        dialect: Its dialect.
        paper: Whether the split follows from the skeleton's digest, as in rule set
            `paper`, and not from the shingles.
    """
    text = jsontext.write(schema)
    # In ASCII such a character is `\uXXXX`, or two of them.
    escaped = re.findall("[^\0-~]", text)
    growth = sum(5 if character <= "\uffff" else 11 for character in escaped)
    paths = list(_paths(schema))
    objects = [(path, value) for path, value in paths if isinstance(value, dict)]
    outside_arrays = [(path, value) for path, value in objects if None not in path]
    subschemas = list(_subschemas(schema, dialect))
    features = set(chain(*map(_features, subschemas)))
    if features.intersection(REFERENCE_KEYWORDS) and is_recursive(schema, dialect):
        features.add("@recursiveSchemas")
    formats = [subschema.get("format") for subschema in subschemas]
    alive = liveness(schema, dialect)
    digest = sha256(jsontext.canonical(bare)).hexdigest()
    return {
        "json_schema": text,
        "field_count": sum(len(value) for _, value in outside_arrays),
        "max_fan_out": max((len(value) for _, value in objects), default=0),
        "depth": max((len(path) + 1 for path, _ in outside_arrays), default=0),
        "size": len(text) + growth,
        "live": alive.share,
        "live_size": measure_size(alive.fields),
        "vacuous": alive.vacuous,
        "features": sorted(features),
        "formats": sorted({name for name in formats if isinstance(name, str)}),
        "valid_under": [draft.name for draft in DIALECTS if is_valid(schema, draft)],
        "sha256": sha256(jsontext.canonical(schema)).hexdigest(),
        "skeleton_sha256": digest,
        "split_key": digest[:16] if paper else split_key(bare),
    }


def _paths(value: Json) -> Iterator[tuple[tuple[str | None, ...], Json]]:
    """Yield every value inside a value with the names that lead to it.

    None replaces a position in an array.
    """
    stack: list[tuple[tuple[str | None, ...], Json]] = [((), value)]
    while stack:
        path, inner = stack.pop()
        yield path, inner
        if isinstance(inner, dict):
            stack += [((*path, name), member) for name, member in inner.items()]
        elif isinstance(inner, list):
            stack += [((*path, None), item) for item in inner]


def _subschemas(schema: Json, dialect: Dialect) -> Iterator[dict[str, Json]]:
    """Yield a schema and its subschemas that are objects."""
    stack = [schema]
    while stack:
        subschema = stack.pop()
        if not isinstance(subschema, dict):
            continue
        yield subschema
        for keyword in dialect.applicators.keys() & subschema.keys():
            value, shape = subschema[keyword], dialect.applicators[keyword]
            if isinstance(value, list) and shape in {Shape.SCHEMAS, Shape.EITHER}:
                stack += value
            elif isinstance(value, dict) and shape in {Shape.SCHEMA, Shape.EITHER}:
                stack.append(value)
            elif isinstance(value, dict) and shape is not Shape.SCHEMAS:
                stack += value.values()


def _features(schema: dict[str, Json]) -> Iterator[str]:
    """Yield the features of one subschema, in the names of the paper's Figure 4."""
    keywords, types = KNOWN_KEYWORDS & schema.keys(), schema.get("type")
    is_integer = "integer" in (types if isinstance(types, list) else [types])
    for keyword in keywords - _COMMON:
        value = schema[keyword]
        if keyword in _BOUNDS:
            yield "@minmaxInteger" if is_integer else "@minmaxNumber"
        elif keyword.startswith(("min", "max")):
            yield f"@minmax{keyword[3:]}"
        elif keyword not in _COMBINING or not isinstance(value, list) or value[1:]:
            yield keyword
        if keyword.startswith("additional") and isinstance(value, dict):
            yield f"{keyword}:object"
    speaking = keywords - _SILENT
    others = speaking - _COMBINING - {"$ref"}
    if sum(map(bool, ("$ref" in speaking, speaking & _COMBINING, others))) > 1:
        yield "@siblingKeys"


def skeleton(text: str, dialect: Dialect) -> Json:
    """Return the schema of a JSON text without annotations and identifiers."""
    bare = cast("Json", jsontext.parse(text.encode("utf-8", "surrogatepass")))
    for subschema in _subschemas(bare, dialect):
        for name in STRIPPED & subschema.keys():
            del subschema[name]
    return bare


def split_key(bare: Json) -> str:
    """Return the key of the split of a skeleton: from its least shingle.

    A shingle is a scalar or an empty value, with the names that lead to it.
    """
    least = min(
        int.from_bytes(blake2b(shingle.encode(), digest_size=8).digest())
        * _ORDER
        % 2**64
        for shingle in map(_shingle, _paths(bare))
        if shingle
    )
    part = least * _DEAL % 2**64
    if f"{least:016x}" in _dealt():
        start, end = split_bounds(_dealt()[f"{least:016x}"])
        part = start + part * (end - start) // 2**64
    return f"{part:016x}"


def _shingle(at: tuple[tuple[str | None, ...], Json]) -> str:
    """Return the shingle of a value at a path; empty for a value that holds others."""
    path, value = at
    if isinstance(value, (dict, list)) and value:
        return ""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else float(value)
    names = "".join(f"/{name}" for name in path if name is not None)
    return f"{names} {json.dumps(value, ensure_ascii=False)}"


@cache
def _dealt() -> dict[str, str]:
    """Return the splits of large groups of records, by their least shingle."""
    text = (raw_folder() / "lists" / "min_hashes.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: row[1] for row in rows if not row[0].startswith("#")}
