"""Wrap a library of definitions: an object that may have one of each."""

from __future__ import annotations

from curation.core.rule import ABSENT, Context, Document, Json, Rule
from curation.json.pointer import change_at
from curation.schema.roots import asks_nothing, entries, looks_like_a_schema

NAME = "wrap-library"


def _apply(document: Document, _context: Context) -> Document:
    root = document.schema
    if not looks_like_a_schema(root) or not asks_nothing(root):
        return document
    definitions = entries(root)
    if not definitions:
        return document
    properties: Json = {
        definition.name: {"$ref": definition.reference} for definition in definitions
    }
    wrapped = {**root, "type": "object", "properties": properties}
    changes = [
        change_at(
            NAME,
            (keyword,),
            root.get(keyword, ABSENT),
            wrapped[keyword],
            "the root asked nothing; its definitions became optional properties",
        )
        for keyword in ("type", "properties")
        if root.get(keyword) != wrapped[keyword]
    ]
    return document.changed(wrapped, changes)


RULE = Rule(
    name=NAME,
    summary="A library of definitions whose root restricts nothing becomes `type: "
    "object` with an optional property for each definition.",
    source="JSONSchemaBench paper, Appendix A (wrapping of definitions), without its "
    "`required`, which no instance of a recursive definition can meet, and with a type",
    apply=_apply,
)
