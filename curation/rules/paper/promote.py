"""Promote the first member with a `$schema` of its own."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import Tokens, change_at, fragment_of, pointer
from curation.schema.dialects import ANY_DIALECT, DRAFT_04
from curation.schema.paper_roots import applies
from curation.schema.subschemas import edited, subschema_locations, without
from curation.schema.translation import with_numeric_bounds
from curation.validation.metaschema_2020_12 import complaint

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


def _without_anchors(schema: Json) -> Json:
    """Return the schema with references by pointer in place of plain-name `$id`s."""
    anchors = {
        name: fragment_of(each.tokens)
        for each in subschema_locations(schema, ANY_DIALECT)
        if isinstance(name := each.keywords.get("$id"), str) and name[:1] == "#"
    }

    def by_pointer(_tokens: Tokens, inner: Json) -> Json:
        if not isinstance(inner, dict):
            return inner
        if inner.get("$id") in anchors:
            inner = without(inner, "$id")
        target = anchors.get(str(inner.get("$ref")))
        return inner if target is None else {**inner, "$ref": target}

    return edited(schema, ANY_DIALECT, by_pointer) if anchors else schema


def _apply(document: Document, _context: Context) -> Document | Rejected:
    name = _embedded(document.schema)
    if name is None:
        return document
    inner = document.schema[name]
    refused = complaint(inner)
    note = f"the schema stood under {pointer((name,))}"
    if refused is not None:
        inner = _without_anchors(edited(inner, DRAFT_04, _ported))
        if inner is not document.schema[name]:
            refused = complaint(inner)
            note += "; what 2020-12 refuses in it is written as it wants it"
    if refused is not None:
        detail = f"in {pointer((name,))}: {refused}"
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail)
    return document.changed(inner, [change_at(NAME, (), document.schema, inner, note)])


RULE = Rule(
    name=NAME,
    summary="A root without `$schema` and applying keyword gives way to its first "
    "member with a `$schema` of its own; that one must pass `check_schema` too, with "
    "its boolean exclusive bounds written as numbers and its plain-name `$id`s as "
    "pointers if need be.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal); 273 GitHub "
    "files, of which one then fails `check_schema`",
    apply=_apply,
    reasons=(Reason.INVALID_SCHEMA,),
)
