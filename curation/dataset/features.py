"""The features of a schema, in the names of the paper's Figures 2 and 4.

A feature is a keyword, or a group of keywords whose name begins with `@`. `type`,
`properties`, identifiers and annotations are in nearly every schema and no features.
Keywords count where the dialect reads a schema, if any draft defines them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
)
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
#: Keywords that the paper counts as one.
MIN_MAX_FEATURES = {
    f"{bound}{counted}": f"@minmax{counted}"
    for counted in ("Length", "Items", "Properties", "Contains")
    for bound in ("min", "max")
}
_COMBINING = frozenset({"allOf", "anyOf", "oneOf"})
_ADDITIONAL = frozenset({"additionalProperties", "additionalItems"})
_IDENTIFYING = frozenset({"$schema", "$id", "id", "$vocabulary"})
#: Keywords that are features under their own name.
_PLAIN = (
    KNOWN_KEYWORDS
    - {"type", "properties"}
    - (ANNOTATIONS - {"format"})
    - CONTAINERS
    - _IDENTIFYING
    - _BOUNDS
    - frozenset(MIN_MAX_FEATURES)
    - _COMBINING
)
#: Keywords that ask nothing beside a `$ref`.
_SILENT = (ANNOTATIONS - {"format", "$schema"}) | CONTAINERS
#: Keywords whose value must be looked at.
_VALUED = (
    _BOUNDS
    | frozenset(MIN_MAX_FEATURES)
    | _COMBINING
    | _ADDITIONAL
    | frozenset({"format"})
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Features and formats of a schema, each once, sorted."""

    features: tuple[str, ...]
    formats: tuple[str, ...]


def used(schema: Json, dialect: Dialect) -> Used:
    """Return the features and the formats of a schema, in one walk."""
    names: set[str] = set()
    format_names: set[str] = set()
    for subschema in subschemas(schema, dialect):
        plain, valued = _of_names(tuple(subschema))
        names |= plain
        for keyword in valued:
            if keyword in _ADDITIONAL:
                if isinstance(subschema[keyword], dict):
                    names.add(f"{keyword}:object")
            elif keyword != "format":
                names.update(_feature_of(keyword, subschema))
            elif isinstance(name := subschema[keyword], str):
                format_names.add(name)
    if not names.isdisjoint(REFERENCE_KEYWORDS):
        from curation.references.reachable import is_recursive  # noqa: PLC0415 - of few schemas

        if is_recursive(schema, dialect):
            names.add("@recursiveSchemas")
    return Used(features=tuple(sorted(names)), formats=tuple(sorted(format_names)))


def features(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the features of a schema, sorted, each once.

    Example:
        >>> features({"type": "integer", "minimum": 1, "enum": [1, 2]}, DRAFT_07)
        ('@minmaxInteger', 'enum')
    """
    return used(schema, dialect).features


def formats(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the values of `format` in keyword position, sorted, each once."""
    return used(schema, dialect).formats


@lru_cache(maxsize=4096)
def _of_names(names: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the features of member names, and keywords whose values matter."""
    keywords = KNOWN_KEYWORDS.intersection(names)
    plain = keywords & _PLAIN
    if len(set(map(_sort_of, keywords - _SILENT))) > 1:
        plain |= {"@siblingKeys"}
    return plain, keywords & _VALUED


def _feature_of(keyword: str, schema: dict[str, Json]) -> Iterable[str]:
    """Yield the features of a keyword that depend on its value."""
    value = schema[keyword]
    if keyword in _BOUNDS:
        types = schema.get("type")
        whole = types == "integer" or (isinstance(types, list) and "integer" in types)
        yield "@minmaxInteger" if whole else "@minmaxNumber"
    elif keyword in MIN_MAX_FEATURES:
        yield MIN_MAX_FEATURES[keyword]
    elif not isinstance(value, list) or len(value) > 1:
        # A combination of one is that one.
        yield keyword


def _sort_of(keyword: str) -> str:
    """Return the sort of a keyword: a reference, a combination, or other."""
    if keyword == "$ref":
        return keyword
    return "combination" if keyword in _COMBINING else "other"
