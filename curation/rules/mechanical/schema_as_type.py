"""A schema, or a reference to one, in the place of a type name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.rules.guard import mechanical
from curation.schema.keywords import ANNOTATIONS, CONTAINERS
from curation.schema.misspellings import type_meant
from curation.schema.subschemas import without

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused


def _mended(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    value = schema.get("type")
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value) and "anyOf" not in schema:
            branches: list[Json] = [_branch(item) for item in value]
            return {**without(schema, "type"), "anyOf": branches}
        return schema
    inner = _referred(value) if isinstance(value, str) else value
    if not isinstance(inner, dict):
        return schema
    remaining = without(schema, "type")
    asserting = remaining.keys() - ANNOTATIONS - CONTAINERS
    if inner.keys().isdisjoint(remaining) and not (asserting and "$ref" in inner):
        return {**remaining, **inner}
    return schema if "allOf" in remaining else {**remaining, "allOf": [inner]}


def _branch(item: Json) -> Json:
    return item if isinstance(item, dict) else {"type": item}


def _referred(name: str) -> Json:
    if type_meant(name) is not None or not name.startswith("#/"):
        return None
    return {"$ref": name}


RULE = mechanical(
    "schema-as-type",
    _mended,
    summary="A schema that is the value of `type`, or one of its list, is applied "
    "itself, and so is what a path `#/...` there leads to, in a schema that its draft "
    "refuses.",
    source="Draft-04 validation, section 5.5.2: `type` holds names; draft-03 knew "
    "schemas there. Twenty GitHub files, mended so in the published benchmark",
    note="a schema where a type's name should stand",
)
