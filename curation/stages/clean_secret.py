"""Reject what holds a credential."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation import secrets
from curation.documents import Reason, Rejected
from curation.rules import Rule

if TYPE_CHECKING:
    from curation.documents import Document
    from curation.rules import Context

NAME = "reject-secret"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    found = secrets.find(document.schema)
    if found is None:
        return document
    detail = f"{found.pointer or '(root)'} holds text in the format of: {found.format}"
    return Rejected(reason=Reason.SECRET, detail=detail, rule=NAME)


RULE = Rule(
    name=NAME,
    summary="A document with text in a known credential format is dropped; the "
    "value is never written down.",
    source="The formats as their issuers document them (curation/secrets.py)",
    positions={"clean": 20},
    apply=_apply,
    reasons=(Reason.SECRET,),
)
