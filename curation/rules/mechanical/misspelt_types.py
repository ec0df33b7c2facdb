"""Types that are called by another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.rules.guard import mechanical
from curation.schema.misspellings import ANY_TYPE, type_meant
from curation.schema.subschemas import without

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused


def _mended(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    if "type" not in schema:
        return schema
    value = schema["type"]
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
    return schema if new == schema["type"] else {**schema, "type": new}


def _meaning(name: Json) -> str | None:
    if name is None:
        return "null"
    return type_meant(name) if isinstance(name, str) else None


RULE = mechanical(
    "misspelt-types",
    _mended,
    summary="Types of other languages, slips and `a|b` get the names that JSON Schema "
    "has for them; `any` goes, and so does `enum` beside an `enum`; in a schema that "
    "its draft refuses.",
    source="Draft-04 validation, section 5.5.2: seven names; some eighty GitHub files, "
    "most of them mended so in the published benchmark",
    note="no draft knows a type of this name",
)
