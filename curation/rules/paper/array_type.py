"""Say that a root with `items` is an array."""

from __future__ import annotations

from curation.core.rule import Context, Document, Rule
from curation.json.pointer import change_at, replaced
from curation.schema.paper_roots import applies

NAME = "paper-array-type"


def _apply(document: Document, _context: Context) -> Document:
    root = document.schema
    if (
        root.get("type") != "object"
        or not isinstance(root.get("items"), dict)
        or applies(root)
    ):
        return document
    change = change_at(NAME, ("type",), "object", "array")
    return document.changed(replaced(root, ("type",), "array"), [change])


RULE = Rule(
    name=NAME,
    summary="A root of type `object` with an object as `items` and no applying "
    "keyword becomes of type `array`; nested ones stay.",
    source="JSONSchemaBench paper, section 3.1; 13 GitHub records",
    apply=_apply,
)
