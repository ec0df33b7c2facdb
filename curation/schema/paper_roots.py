"""Roots as rule set `paper` reads them: the authors' notion, found by comparison.

Keywords count by name alone, wherever they stand, as the published records show;
`curation.schema.roots` is the notion of rule set `clean`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from curation.schema.keywords import BOUNDS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: Keywords that make an object a schema that asks something.
APPLYING = frozenset(
    {
        *("properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "not"),
        *("enum", "const", "if"),
    }
)
#: Keywords that bound a value.
BOUNDING = BOUNDS | {"pattern"}
#: A root with none of these is not a schema at all.
SIGNS = frozenset({"$schema", "definitions", "type", "required", "dependencies"})
_OTHER_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "string"})


def applies(schema: dict[str, Json]) -> bool:
    """Return whether an object has one of the applying keywords."""
    return not APPLYING.isdisjoint(schema)


def _other_type(schema: dict[str, Json]) -> bool:
    types = schema.get("type")
    return isinstance(types, list) or (isinstance(types, str) and types in _OTHER_TYPES)


def constrains(root: Json) -> bool:
    """Return whether a root asks anything of an instance, objects aside."""
    return isinstance(root, dict) and (
        applies(root)
        or "items" in root
        or not BOUNDING.isdisjoint(root)
        or isinstance(root.get("additionalProperties"), dict)
        or _other_type(root)
    )


def _is_entry(value: dict[str, Json]) -> bool:
    return (
        applies(value)
        or not BOUNDING.isdisjoint(value)
        or _other_type(value)
        or (value.get("type") == "object" and "additionalProperties" in value)
    )


def entries(root: dict[str, Json]) -> Iterator[Tokens]:
    """Yield where the outermost meaningful schemas stand, in the file's order.

    Only members that are objects are entered, never arrays.
    """
    stack = [_members(root, ())]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
        elif _is_entry(entry[1]):
            yield entry[0]
        else:
            stack.append(_members(entry[1], entry[0]))


def _members(
    value: dict[str, Json], above: Tokens
) -> Iterator[tuple[Tokens, dict[str, Json]]]:
    for name, member in value.items():
        if isinstance(member, dict):
            yield (*above, name), member
