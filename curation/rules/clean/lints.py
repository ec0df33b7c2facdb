"""Flag the defects that stay as they are."""

from __future__ import annotations

from curation.core.rule import Context, Document, Rule
from curation.lint.lint import CODES, lints
from curation.schema.dialects import BY_NAME

_NAME = "lints"


def _apply(document: Document, _context: Context) -> Document:
    return document.flagged(
        lints(document.schema, BY_NAME[document.dialect or "2020-12"])
    )


RULE = Rule(
    name=_NAME,
    summary="Defects that no rule may mend without changing the meaning are flagged.",
    source="The defects of the published set; each code says what it means",
    apply=_apply,
    lints=CODES,
)
