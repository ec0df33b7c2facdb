"""Promote the first member with a `$schema` of its own."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import Tokens, change_at, pointer
from curation.schema.dialects import DRAFT_04
from curation.schema.paper_roots import applies
from curation.schema.subschemas import edited
from curation.schema.translation import with_numeric_bounds
from curation.validation.metaschema_2020_12 import checked_complaint

NAME = "paper-promote"


def _embedded(root: Json) -> str | None:
    if not isinstance(root, dict) or "$schema" in root or applies(root):
        return None
    members: dict[str, Json] = root
    return next(
        (
            name
            for name, member in members.items()
            if isinstance(member, dict) and "$schema" in member
        ),
        None,
    )


def _ported(_tokens: Tokens, schema: Json) -> Json:
    return with_numeric_bounds(schema) if isinstance(schema, dict) else schema


def _apply(document: Document, _context: Context) -> Document | Rejected:
    name = _embedded(document.schema)
    if name is None:
        return document
    inner = document.schema[name]
    refused = checked_complaint(inner, key=document.unique_id)
    note = f"the schema stood under {pointer((name,))}"
    if refused is not None:
        inner = edited(inner, DRAFT_04, _ported)
        if inner is not document.schema[name]:
            refused = checked_complaint(inner, key=document.unique_id)
            note += "; its boolean bounds are numbers"
    if refused is not None:
        detail = f"in {pointer((name,))}: {refused}"
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail)
    return document.changed(inner, [change_at(NAME, (), document.schema, inner, note)])


RULE = Rule(
    name=NAME,
    summary="A root without `$schema` and applying keyword gives way to its first "
    "member with a `$schema` of its own; that one must pass `check_schema` too, with "
    "its boolean exclusive bounds written as numbers if need be.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal); 273 GitHub "
    "files, 2 of which then fail `check_schema`",
    apply=_apply,
    reasons=(Reason.INVALID_SCHEMA,),
)
