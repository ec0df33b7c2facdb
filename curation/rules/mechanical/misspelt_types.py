"""Types that are called by another name."""

from __future__ import annotations

from curation.core.rule import Json, RepairKind, Rule
from curation.rules.editing import mends_refused, without
from curation.schema.misspellings import ANY_TYPE, type_meant

_NAME = "misspelt-types"


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    value = schema.get("type")
    if value == "enum" and isinstance(schema.get("enum"), list):
        return without(schema, "type")
    if isinstance(value, str) and "|" in value:
        value = [name.strip() for name in value.split("|")]
    names = value if isinstance(value, list) else [value]
    meanings = [_meaning(name) for name in names]
    if None in meanings:
        return schema
    if ANY_TYPE in meanings:
        return without(schema, "type")
    types: list[Json] = list(dict.fromkeys(meanings))
    new: Json = types if isinstance(value, list) else types[0]
    return schema if new == schema.get("type") else {**schema, "type": new}


def _meaning(name: Json) -> str | None:
    if name is None:
        return "null"
    return type_meant(name) if isinstance(name, str) else None


RULE = Rule(
    name=_NAME,
    summary="Types of other languages, slips and `a|b` get the names that JSON Schema "
    "has for them; `any` goes, and so does `enum` beside an `enum`; in a schema that "
    "its draft refuses.",
    source="Draft-04 validation, section 5.5.2: seven names; some eighty GitHub files, "
    "most of them mended so in the published benchmark",
    apply=mends_refused(_NAME, _mended, "no draft knows a type of this name"),
    repair=RepairKind.MECHANICAL,
)
