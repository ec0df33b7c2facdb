"""Does a schema accept every value but objects? Such a root was meant otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from curation.lint_values import named_types
from curation.roots import TYPES
from curation.schema_walk import at, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.dialects import Dialect
    from curation.documents import Json

#: Keywords that only objects can fail.
_OF_OBJECTS = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "required",
        "minProperties",
        "maxProperties",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
    }
)
#: References followed one into another.
_DEEPEST = 32
_OTHERS = TYPES - {"object", "integer"}


def accepts_every_non_object(schema: Json, dialect: Dialect) -> bool:
    """Tell whether a schema surely accepts every value that is no object."""
    return _accepts(schema, schema, dialect, 0)


def _accepts(schema: Json, root: Json, dialect: Dialect, depth: int) -> bool:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    if "$ref" in schema and not _reference(schema["$ref"], root, dialect, depth):
        return False
    if "$ref" in schema and dialect.ref_hides_siblings:
        return True
    types = named_types(schema)
    if types is not None and not types >= _OTHERS:
        return False
    asserting = (schema.keys() & dialect.effective) - _OF_OBJECTS
    return all(
        _passes(word, schema, root, dialect, depth)
        for word in asserting
        if word not in ("type", "$ref", "$id", "id", "definitions", "$defs")
    )


def _passes(
    word: str, schema: Mapping[str, Json], root: Json, dialect: Dialect, depth: int
) -> bool:
    value = schema[word]
    if word in ("allOf", "anyOf", "oneOf") and isinstance(value, list):
        each = [_accepts(inner, root, dialect, depth + 1) for inner in value]
        if word == "oneOf":
            return len(each) == 1 and each[0]
        return any(each) if word == "anyOf" else all(each)
    if word == "if":
        return all(
            _accepts(schema.get(branch, True), root, dialect, depth + 1)
            for branch in ("then", "else")
        )
    if word in ("then", "else"):
        return True
    return word in ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")


def _reference(value: Json, root: Json, dialect: Dialect, depth: int) -> bool:
    """Tell it of the target of a local pointer; any other reference is unsure."""
    if not isinstance(value, str) or not (value == "#" or value.startswith("#/")):
        return False
    try:
        target = at(root, tokens_of(unquote(value[1:])))
    except (LookupError, ValueError):
        return False
    return _accepts(target, root, dialect, depth + 1)
