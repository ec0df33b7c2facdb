"""Wrap a library of definitions: an object that requires one of each."""

from __future__ import annotations

from curation.core.rule import ABSENT, Context, Document, Json, Rule
from curation.json.pointer import change_at, pointer
from curation.schema.paper_roots import SIGNS, constrains, entries

NAME = "paper-wrap"


def _wrapped(root: dict[str, Json]) -> dict[str, Json]:
    """Return the members that the wrap sets; none where nothing can be wrapped."""
    properties: dict[str, Json] = {
        ".".join(name for name in tokens if name != "definitions"): {
            "$ref": "#" + pointer(tokens)
        }
        for tokens in entries(root)
    }
    return {"properties": properties, "required": list(properties)}


def _apply(document: Document, _context: Context) -> Document:
    root = document.schema
    if constrains(root) or not isinstance(root, dict) or SIGNS.isdisjoint(root):
        return document
    members = _wrapped(root)
    if not members["properties"]:
        return document
    changes = [
        change_at(NAME, (name,), root.get(name, ABSENT), value)
        for name, value in members.items()
    ]
    return document.changed({**root, **members}, changes)


RULE = Rule(
    name=NAME,
    summary="A root that constrains nothing but holds schemas somewhere inside gets "
    "each of the outermost as a required property that refers to it.",
    source="JSONSchemaBench paper, Appendix A; 166 GitHub records, 2 SchemaStore, 1 "
    "Kubernetes and 1 WashingtonPost record",
    apply=_apply,
)
