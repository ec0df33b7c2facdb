"""Flag the defects that stay as they are."""

from __future__ import annotations

from curation.core.rule import Context, Document, Rule
from curation.lint.lint import CODES, lints
from curation.schema.dialects import BY_NAME

_NAME = "lints"


def apply(document: Document, _context: Context) -> Document:
    """Return the document with a lint for every defect that stays."""
    return document.flagged(
        lints(document.schema, BY_NAME[document.dialect or "2020-12"])
    )


RULE = Rule(
    name=_NAME,
    summary="Defects that no rule may mend without changing the meaning are flagged.",
    source="The defects of the published set; each code says what it means",
    apply=apply,
    lints=CODES,
)
