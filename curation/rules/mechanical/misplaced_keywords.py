"""Keywords of an object that stand among its properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from curation.rules.guard import mechanical
from curation.schema.misspellings import type_meant

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused

_COUNTS = frozenset({"minProperties", "maxProperties"})
_TEXTS = frozenset({"title", "description"})


def _mended(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    """Return the schema with keywords from among its properties at their places.

    A whole schema in the place of the properties stays: its own are not known.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or (
        isinstance(properties.get("type"), str) and "properties" in properties
    ):
        return schema
    moved = {
        name: value
        for name, value in properties.items()
        if ("properties", name) in refused and _belongs(name, value, schema)
    }
    if not moved:
        return schema
    remaining = {name: value for name, value in properties.items() if name not in moved}
    result: dict[str, Json] = {**schema, "properties": remaining}
    for name, value in moved.items():
        if name == "$ref":
            result["allOf"] = [{"$ref": value}]
        elif _are_names(value):
            with_names = _with_required(result, value)
            if with_names is None:
                return schema
            result = with_names
        else:
            result[name] = value
    return result


def _belongs(name: str, value: Json, schema: dict[str, Json]) -> bool:
    """Return whether a member of `properties` can be a keyword of the object."""
    if name == "required":
        return _are_names(value) and _are_names(schema.get(name, []))
    if name == "$ref":
        return isinstance(value, str) and value[:1] == "#" and "allOf" not in schema
    if name == "type":
        return value == schema.get(name, {})
    if name in schema:
        return False
    if name == "additionalProperties":
        return isinstance(value, bool)
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool)
    return name in _TEXTS and isinstance(value, str) and type_meant(value) is None


def _with_required(
    schema: dict[str, Json], names: list[Json]
) -> dict[str, Json] | None:
    """Return the schema with names required of the one object that has them all."""
    properties = schema["properties"]
    if not isinstance(properties, dict):
        return None
    if properties.keys() >= set(map(str, names)):
        own = schema.get("required", [])
        before: list[Json] = own if isinstance(own, list) else []
        new = [name for name in names if name not in before]
        return {**schema, "required": [*before, *new]}
    holders = {
        name: {**member, "required": names}
        for name, member in properties.items()
        if isinstance(member, dict)
        and isinstance(inner := member.get("properties"), dict)
        and "required" not in member
        and inner.keys() >= set(map(str, names))
    }
    if len(holders) != 1:
        return None
    return {**schema, "properties": {**properties, **holders}}


def _are_names(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


RULE = mechanical(
    "misplaced-keywords",
    _mended,
    summary="A list `required`, a count, a title or description, a local `$ref`, the "
    "object's own type once more and, in draft-04, a boolean `additionalProperties` "
    "that stand among the properties belong to the object, in a schema that its draft "
    "refuses. Names that are required belong to the one object that has them all.",
    source="Draft-04 validation, section 5.4.4: members of `properties` are schemas; "
    "about thirty GitHub files, mended so in the published benchmark",
    note="a keyword of the object, among its properties",
)
