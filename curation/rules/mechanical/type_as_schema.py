"""A type name, or a path, in the place of a schema."""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.rule import Json, RepairKind, Rule
from curation.rules.editing import mends_refused
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import Shape
from curation.schema.misspellings import type_meant

_NAME = "type-as-schema"
#: Draft-03 reads names in these itself.
_NAMES = frozenset({"type", "disallow", "extends", "dependencies"})
_HOLDING: Mapping[str, Shape] = {
    keyword: shape
    for keyword, shape in ANY_DIALECT.applicators.items()
    if keyword not in _NAMES
}


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    changed: dict[str, Json] = {}
    for keyword in _HOLDING.keys() & schema.keys():
        value, shape = schema[keyword], _HOLDING[keyword]
        new = value
        if isinstance(value, str) and shape in (Shape.SCHEMA, Shape.EITHER):
            new = _schema_of(value)
        elif isinstance(value, list) and shape in (Shape.SCHEMAS, Shape.EITHER):
            new = [_schema_of(item) for item in value]
        elif isinstance(value, dict) and shape is Shape.MAP and "type" not in value:
            new = {name: _schema_of(member) for name, member in value.items()}
        elif isinstance(value, dict) and shape is Shape.MAP:
            new = _of_map(value)
        if new != value:
            changed[keyword] = new
    return {**schema, **changed} if changed else schema


def _of_map(members: dict[str, Json]) -> dict[str, Json]:
    """Return a map of schemas; one with `type` and `properties` is a schema itself."""
    if isinstance(members.get("type"), str) and "properties" in members:
        return members
    return {name: _schema_of(member) for name, member in members.items()}


def _schema_of(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    if type_meant(value) is not None:
        return {"type": value}
    return {"$ref": value} if value.startswith("#/") else value


RULE = Rule(
    name=_NAME,
    summary="A text where a schema should stand is the schema of the type that it "
    "names, or of what its path `#/...` leads to, in a schema that its draft refuses.",
    source="Draft-04 core, section 3.2: a schema is an object; seven GitHub files, "
    "mended so in the published benchmark",
    apply=mends_refused(_NAME, _mended, "a type's name where a schema should stand"),
    repair=RepairKind.MECHANICAL,
)
