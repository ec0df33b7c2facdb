"""What a schema asks of an engine, in the names of the paper's Figures 2 and 4.

A feature is a keyword, or a group of keywords with a name that begins with `@`.
`type`, `properties` and what only names or annotates is in nearly every schema
and no feature. Keywords count where the dialect reads a schema, in whichever
draft they are known: an engine meets the word all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.dialects import ANNOTATIONS, CONTAINERS, KNOWN_WORDS
from curation.recursion import is_recursive
from curation.schema_walk import places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.dialects import Dialect
    from curation.documents import Json

_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_GROUPS = {
    "minLength": "@minmaxLength",
    "maxLength": "@minmaxLength",
    "minItems": "@minmaxItems",
    "maxItems": "@minmaxItems",
    "minProperties": "@minmaxProperties",
    "maxProperties": "@minmaxProperties",
    "minContains": "@minmaxContains",
    "maxContains": "@minmaxContains",
}
_COMBINING = frozenset({"allOf", "anyOf", "oneOf"})
_ADDITIONAL = frozenset({"additionalProperties", "additionalItems"})
_IDENTIFYING = frozenset({"$schema", "$id", "id", "$vocabulary"})
#: Words that are features under their own name.
_PLAIN = (
    KNOWN_WORDS
    - {"type", "properties"}
    - (ANNOTATIONS - {"format"})
    - CONTAINERS
    - _IDENTIFYING
    - _BOUNDS
    - frozenset(_GROUPS)
    - _COMBINING
)
#: Words that ask nothing beside a `$ref`.
_SILENT = (ANNOTATIONS - {"format", "$schema"}) | CONTAINERS
_FEATURES = _PLAIN | _BOUNDS | frozenset(_GROUPS) | _COMBINING


def features(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the names of the features that a schema uses, sorted, each once."""
    found: set[str] = set()
    for place in places(schema, dialect):
        if isinstance(place.schema, dict):
            found.update(_of(place.schema))
    if not found.isdisjoint(("$ref", "$recursiveRef", "$dynamicRef")) and is_recursive(
        schema, dialect
    ):
        found.add("@recursiveSchemas")
    return tuple(sorted(found))


def formats(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the values of `format` in keyword position, sorted, each once."""
    stated = (
        place.schema.get("format")
        for place in places(schema, dialect)
        if isinstance(place.schema, dict)
    )
    return tuple(sorted({each for each in stated if isinstance(each, str)}))


def _of(schema: dict[str, Json]) -> Iterable[str]:
    """Yield the features of one place."""
    for word in _FEATURES.intersection(schema):
        yield from _of_word(word, schema)
    if len(_sorts(schema)) > 1:
        yield "@siblingKeys"


def _of_word(word: str, schema: dict[str, Json]) -> Iterable[str]:
    value = schema[word]
    if word in _BOUNDS:
        stated = schema.get("type")
        whole = stated == "integer" or (
            isinstance(stated, list) and "integer" in stated
        )
        yield "@minmaxInteger" if whole else "@minmaxNumber"
    elif word in _GROUPS:
        yield _GROUPS[word]
    elif word not in _COMBINING:
        yield word
        if word in _ADDITIONAL and isinstance(value, dict):
            yield f"{word}:object"
    elif not isinstance(value, list) or len(value) > 1:
        # A combination of one is that one.
        yield word


def _sorts(schema: dict[str, Json]) -> set[str]:
    """Return the sorts of keywords side by side: a reference, combinations, others."""
    sorts = set()
    for word in KNOWN_WORDS.intersection(schema) - _SILENT:
        if word == "$ref":
            sorts.add("reference")
        else:
            sorts.add("combination" if word in _COMBINING else "other")
    return sorts
