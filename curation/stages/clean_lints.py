"""Flag the defects that stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.dialects import BY_NAME
from curation.lints import CODES, lints
from curation.rules import Rule

if TYPE_CHECKING:
    from curation.documents import Document
    from curation.rules import Context

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
    positions={"clean": 95},
    apply=apply,
    lints=CODES,
)
