"""The features of a schema, in the names of the paper's Figures 2 and 4.

A feature is a keyword, or a group of keywords whose name begins with `@`. `type`,
`properties`, identifiers and annotations are in nearly every schema and no features.
Keywords count where the dialect reads a schema, if any draft defines them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from curation.core.json_types import Json
from curation.schema.dialects import Dialect
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
)
from curation.schema.subschemas import subschemas

_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COMBINING = frozenset({"allOf", "anyOf", "oneOf"})
_ADDITIONAL = frozenset({"additionalProperties", "additionalItems"})
#: Keywords that ask nothing next to a `$ref`.
_SILENT = (ANNOTATIONS - {"format", "$schema"}) | CONTAINERS
#: Keywords that are not features, or depend on their value.
_NOT_PLAIN = (
    *("type", "properties", "$schema", "$id", "id", "$vocabulary"),
    *_SILENT,
    *_BOUNDS,
    *_COMBINING,
)
#: Keywords whose value must be looked at.
_VALUED = _BOUNDS | _COMBINING | _ADDITIONAL | {"format"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Features and formats of a schema, each once, sorted."""

    features: tuple[str, ...]
    formats: tuple[str, ...]


def used(schema: Json, dialect: Dialect) -> Used:
    """Return the features and the formats of a schema, in one walk.

    Example:
        >>> used({"type": "integer", "minimum": 1, "enum": [1, 2]}, DRAFT_07).features
        ('@minmaxInteger', 'enum')
    """
    names: set[str] = set()
    format_names: set[str] = set()
    for subschema in subschemas(schema, dialect):
        plain, valued = _features_by_name(tuple(subschema))
        names |= plain
        for keyword in valued:
            if keyword in _ADDITIONAL:
                if isinstance(subschema[keyword], dict):
                    names.add(f"{keyword}:object")
            elif keyword != "format":
                names.update(_features_by_value(keyword, subschema))
            elif isinstance(name := subschema[keyword], str):
                format_names.add(name)
    if not names.isdisjoint(REFERENCE_KEYWORDS):
        from curation.references.reachable import is_recursive  # noqa: PLC0415 - of few schemas

        if is_recursive(schema, dialect):
            names.add("@recursiveSchemas")
    return Used(features=tuple(sorted(names)), formats=tuple(sorted(format_names)))


@lru_cache(maxsize=4096)
def _features_by_name(
    names: tuple[str, ...],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the features of member names, and keywords whose values matter."""
    keywords = KNOWN_KEYWORDS.intersection(names)
    features = {
        f"@minmax{keyword[3:]}" if keyword.startswith(("min", "max")) else keyword
        for keyword in keywords.difference(_NOT_PLAIN)
    }
    assertions = keywords - _SILENT
    sorts = (
        assertions & {"$ref"},
        assertions & _COMBINING,
        assertions - _COMBINING - {"$ref"},
    )
    if sum(map(bool, sorts)) > 1:
        features.add("@siblingKeys")
    return frozenset(features), keywords & _VALUED


def _features_by_value(keyword: str, schema: dict[str, Json]) -> Iterator[str]:
    """Yield the feature of a keyword that depends on its value."""
    value = schema[keyword]
    if keyword in _BOUNDS:
        types = schema.get("type")
        is_integer = "integer" in (types if isinstance(types, list) else [types])
        yield "@minmaxInteger" if is_integer else "@minmaxNumber"
    elif not isinstance(value, list) or len(value) > 1:
        # A combination of one is that one.
        yield keyword
