"""Roots of schemas before their dialect is known.

Three defects are read off a root: a schema embedded in a file about something else, a
library of definitions whose root asserts nothing, and a non-schema. A keyword
counts only if its value has a shape that some draft gives it: a map of definitions may
have a property called `type` or `required`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from curation.core.json_types import Json
from curation.json.pointer import Tokens
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    NUMBERS,
    REFERENCE_KEYWORDS,
    Shape,
)

#: The seven names that `type` knows (draft-04 to 2020-12).
TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
#: A root with none of these is a file about something else.
_SIGNS = frozenset(
    {"$schema", "definitions", "$defs", "type", "required", "dependencies"}
)
#: With the value 0 these ask nothing.
_COUNTS_FROM = frozenset({"minLength", "minItems", "minProperties", "minContains"})
#: Keywords that never hold definitions.
_DATA = ANNOTATIONS | {"enum", "const", "example"}
#: Definitions nested deeper than this below the root are left alone.
_DEEPEST = 64


def _is_schema(value: Json) -> bool:
    return isinstance(value, dict | bool)


def _names_a_type(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(item, dict) or (isinstance(item, str) and item in TYPES)
            for item in value
        )
    return isinstance(value, str) and value in TYPES


def _applies(keyword: str, value: Json) -> bool:
    shape = ANY_DIALECT.applicators[keyword]
    if keyword == "properties":
        return isinstance(value, dict) and (
            not value or any(map(_is_schema, value.values()))
        )
    if keyword in ("not", "contains"):
        # Idle by no schema that accepts everything, unlike the others.
        return isinstance(value, dict) or value is True or keyword == "contains"
    if value is False:
        return shape in (Shape.SCHEMA, Shape.EITHER)
    if shape is Shape.SCHEMA:
        return isinstance(value, dict) and bool(value)
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


def _asserts(keyword: str, value: Json) -> bool:
    if keyword == "type":
        # Some exclude nothing, or nothing but non-objects.
        items = value if isinstance(value, list) else [value]
        named = {item for item in items if isinstance(item, str)}
        excludes = named != {"object"} and not named >= TYPES - {"integer"}
        return _names_a_type(value) and excludes
    if keyword in NUMBERS:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and not (value == 0 and keyword in _COUNTS_FROM)
    if keyword in ("required", "enum", "disallow"):
        return bool(value) and isinstance(value, list | str)
    if keyword == "uniqueItems":
        return value is True
    if keyword == "pattern":
        return isinstance(value, str)
    if keyword == "dependentRequired":
        return isinstance(value, dict) and any(value.values())
    return keyword == "const"


def restricts(name: str, value: Json) -> bool:
    """Return whether one member of a schema restricts its instance in some draft.

    `type: object` does not: a library's root often states no more than that.
    """
    if name in CONTAINERS or name == "contentSchema":
        return False
    # Draft-03's `type` and `disallow` may hold schemas, but they assert.
    if name in ANY_DIALECT.assertions:
        return _asserts(name, value)
    if name in ANY_DIALECT.applicators:
        return _applies(name, value)
    return name in REFERENCE_KEYWORDS and isinstance(value, str)


def constrains(schema: Json) -> bool:
    """Return whether a schema asks more of an object than to be one, in some draft."""
    if not isinstance(schema, dict):
        return schema is False
    return any(restricts(name, value) for name, value in schema.items())


def asks_nothing(root: Json) -> bool:
    """Return whether a root by itself states nothing of an object's content.

    `properties: {}` states nothing, nor does `additionalProperties: false` without
    properties. Malformed keywords count as restrictions: the metaschema judges them.
    """
    if not isinstance(root, dict):
        return root is True
    return not any(
        restricts(name, value) or _is_malformed(name, value)
        for name, value in root.items()
        if not (name == "properties" and value == {})
        and not (name == "additionalProperties" and value is False)
    )


def _is_malformed(name: str, value: Json) -> bool:
    if name == "type":
        return not _names_a_type(value) and value != "any"
    shape = ANY_DIALECT.applicators.get(name)
    if shape is None or name in CONTAINERS:
        return False
    fits: tuple[type, ...] = {
        Shape.SCHEMAS: (list,),
        Shape.MAP: (dict,),
        Shape.DEPENDENCIES: (dict,),
        Shape.EITHER: (dict, bool, list),
        Shape.SCHEMA: (dict, bool),
    }[shape]
    return not isinstance(value, fits) or (
        name == "properties" and not _applies(name, value)
    )


def looks_like_a_schema(root: Json) -> bool:
    """Return whether a root that restricts nothing is meant as a schema at all."""
    return isinstance(root, dict) and not _SIGNS.isdisjoint(root)


def embedded(root: Json) -> str | None:
    """Return the name of the first member that is its own schema, or None.

    The root must declare nothing and restrict nothing itself.
    """
    if not isinstance(root, dict) or "$schema" in root or constrains(root):
        return None
    name: str
    for name, value in root.items():
        if name in CONTAINERS or not isinstance(value, dict):
            continue
        if isinstance(value.get("$schema"), str):
            return name
    return None


def entries(root: Json) -> dict[str, Tokens]:
    """Return the definitions of a library, in order: name to place.

    Definitions are not searched themselves. A name is the path, joined by dots, without
    `definitions` and `$defs`; a used name gets `-2`, `-3` and so on.
    """
    definitions: dict[str, Tokens] = {}
    for tokens in _definitions(root, ()):
        path = [token for token in tokens if token not in CONTAINERS]
        definitions[unused(".".join(path or tokens), definitions)] = tokens
    return definitions


def unused(name: str, used: Container[str]) -> str:
    """Return the name; if it is taken, with the first free number after it."""
    if name not in used:
        return name
    number = 2
    while f"{name}-{number}" in used:
        number += 1
    return f"{name}-{number}"


def _definitions(value: Json, tokens: Tokens) -> Iterator[Tokens]:
    if not isinstance(value, dict) or len(tokens) > _DEEPEST:
        return
    for name, member in value.items():
        # A container's members are definitions, whatever they are called.
        below_container = bool(tokens) and tokens[-1] in CONTAINERS
        if not isinstance(member, dict) or (name in _DATA and not below_container):
            continue
        if name not in CONTAINERS and constrains(member):
            yield (*tokens, name)
        else:
            yield from _definitions(member, (*tokens, name))
