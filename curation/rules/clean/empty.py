"""Drop roots that restrict nothing."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.roots import asks_nothing, looks_like_a_schema

NAME = "drop-empty"
_ASKING = KNOWN_KEYWORDS - ANNOTATIONS
_ASSERTED_BY_CHOICE = frozenset({"format", "contentEncoding", "contentMediaType"})


def _says_so(root: Json) -> bool:
    """Return whether an author wrote down that anything goes: that is a schema."""
    return isinstance(root, dict) and (
        "properties" in root or isinstance(root.get("additionalProperties"), dict)
    )


def _why(root: Json) -> str:
    members = root if isinstance(root, dict) else {}
    annotating = sorted(_ASSERTED_BY_CHOICE & members.keys())
    if annotating:
        return f"the root has only {annotating[0]!r}, which validators need not assert"
    if not looks_like_a_schema(root) and members.keys().isdisjoint(_ASKING):
        return "the root has no keyword that a schema would have"
    if members.get("additionalProperties") is False:
        return "the root accepts no object but the empty one"
    if "type" in members:
        return "the root asks for an object, and nothing of its content"
    return "the root restricts nothing, and there are no definitions to use"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    root = document.schema
    if not asks_nothing(root) or _says_so(root):
        return document
    return Rejected(reason=Reason.EMPTY, detail=_why(root), rule=NAME)


RULE = Rule(
    name=NAME,
    summary="A root that restricts nothing and has no definitions is dropped; one "
    "with `properties` or an `additionalProperties` schema, even an empty one, or "
    "with a type other than object is not empty.",
    source="JSONSchemaBench paper, Appendix A (empty schemas)",
    apply=_apply,
    reasons=(Reason.EMPTY,),
)
