"""Drop templates."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.json.values import searchable

#: How a placeholder begins in the template languages of the sources.
PLACEHOLDER = b"${"
#: Bytes shown on either side of it.
_SHOWN = 40


def _apply(document: Document, _context: Context) -> Document | Rejected:
    text = searchable(document.schema)
    if PLACEHOLDER not in text:
        return document
    before, _, after = text.partition(PLACEHOLDER)
    excerpt = before[-_SHOWN:] + PLACEHOLDER + after[:_SHOWN]
    detail = excerpt.decode(errors="ignore")
    return Rejected(reason=Reason.TEMPLATE, detail=f"a placeholder in {detail}")


RULE = Rule(
    name="paper-template",
    summary="A document with `${` anywhere in its JSON text is dropped.",
    source="JSONSchemaBench paper, section 3.1 (invalid schemas are filtered out); "
    "45 GitHub and 16 SchemaStore files, none of them published",
    apply=_apply,
    reasons=(Reason.TEMPLATE,),
)
