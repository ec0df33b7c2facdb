"""Drop roots that constrain nothing."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.json.text import write
from curation.schema.paper_roots import constrains

#: Longest text of a document that is shown whole.
_SHOWN = 120


def _apply(document: Document, _context: Context) -> Document | Rejected:
    if constrains(document.schema):
        return document
    text = write(document.schema)
    excerpt = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return Rejected(reason=Reason.EMPTY, detail=f"constrains nothing: {excerpt}")


RULE = Rule(
    name="paper-empty",
    summary="A root that constrains nothing, and in which nothing was found to wrap, "
    "is dropped.",
    source="JSONSchemaBench paper, section 3.1; 132 GitHub, 23 Kubernetes and 11 "
    "Snowplow files, none of them published",
    apply=_apply,
    reasons=(Reason.EMPTY,),
)
