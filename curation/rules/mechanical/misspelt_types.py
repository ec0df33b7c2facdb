"""Types that are called by another name."""

from __future__ import annotations

from curation.core.rule import Json, RepairKind, Rule
from curation.rules.editing import mends_refused, without
from curation.schema.misspellings import ANY_TYPE, type_meant

_NAME = "misspelt-types"


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    said = schema.get("type")
    if said == "enum" and isinstance(schema.get("enum"), list):
        return without(schema, "type")
    if isinstance(said, str) and "|" in said:
        said = [name.strip() for name in said.split("|")]
    names = said if isinstance(said, list) else [said]
    meant = [_meant(name) for name in names]
    if None in meant:
        return schema
    if ANY_TYPE in meant:
        return without(schema, "type")
    types: list[Json] = list(dict.fromkeys(meant))
    new: Json = types if isinstance(said, list) else types[0]
    return schema if new == schema.get("type") else {**schema, "type": new}


def _meant(name: Json) -> str | None:
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
