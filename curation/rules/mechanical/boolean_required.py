"""`required: true` of draft-03 in a schema of a later draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.rules.guard import mechanical
from curation.schema.subschemas import without

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused


def _mended(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    if isinstance(schema.get("required"), bool):
        schema = without(schema, "required")
    members, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(members, dict) or not isinstance(required, list):
        return schema
    names = [
        name
        for name in members
        if refused.get(("properties", name, "required")) is True
        and name not in required
    ]
    return {**schema, "required": [*required, *names]} if names else schema


RULE = mechanical(
    "boolean-required",
    _mended,
    summary="A property that says `required: true` is listed by its object; "
    "any other boolean `required` goes; in a schema that its draft refuses.",
    source="Draft-04 validation, section 5.4.3, and draft-03, section 5.7; about "
    "twenty GitHub files, mended so in the published benchmark",
    note="since draft-04 an object lists the names of what it requires",
)
