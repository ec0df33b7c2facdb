"""Drop roots that restrict nothing."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.schema.roots import asks_nothing, looks_like_a_schema

NAME = "drop-empty"


def _says_so(root: Json) -> bool:
    """Return whether an author wrote down that anything goes: that is a schema."""
    return isinstance(root, dict) and (
        "properties" in root or isinstance(root.get("additionalProperties"), dict)
    )


def _apply(document: Document, _context: Context) -> Document | Rejected:
    root = document.schema
    if not asks_nothing(root) or _says_so(root):
        return document
    if not looks_like_a_schema(root):
        detail = "the root has no keyword that a schema would have"
    elif isinstance(root, dict) and root.get("additionalProperties") is False:
        detail = "the root accepts no object but the empty one"
    else:
        detail = "the root restricts nothing, and there are no definitions to use"
    return Rejected(reason=Reason.EMPTY, detail=detail, rule=NAME)


RULE = Rule(
    name=NAME,
    summary="A root that restricts nothing and has no definitions is dropped; one "
    "with `properties` or an `additionalProperties` schema, even an empty one, or "
    "with a type other than object is not empty.",
    source="JSONSchemaBench paper, Appendix A (empty schemas)",
    apply=_apply,
    reasons=(Reason.EMPTY,),
)
