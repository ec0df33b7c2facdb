"""`required: true` of draft-03 in a schema of a later draft."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.rules.editing import mended, without
from curation.schema.translation import OwnRequired, with_lifted_required
from curation.validation.dialect_decision import is_refused

_NAME = "boolean-required"


def _apply(document: Document, _context: Context) -> Document:
    if not is_refused(document.schema):
        return document
    replaced: OwnRequired = []

    def lifted(schema: dict[str, Json]) -> dict[str, Json]:
        return with_lifted_required(schema, replaced)

    note = "since draft-04 an object lists the names of what it requires"
    document = mended(document, _NAME, lifted, note)
    return mended(document, _NAME, _leftover, "it says nothing but of a property")


def _leftover(schema: dict[str, Json]) -> dict[str, Json]:
    if isinstance(schema.get("required"), bool):
        return without(schema, "required")
    return schema


RULE = Rule(
    name=_NAME,
    summary="A property that says `required: true` is listed by its object; "
    "any other boolean `required` goes; in a schema that its draft refuses.",
    source="Draft-04 validation, section 5.4.3, and draft-03, section 5.7; about "
    "twenty GitHub files, mended so in the published benchmark",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
