"""Reject documents with a credential."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.lint import credentials

NAME = "reject-secret"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    credential = credentials.find_credential(document.schema)
    if credential is None:
        return document
    where = credential.pointer or "(root)"
    detail = f"{where} holds text in the format of: {credential.format}"
    return Rejected(
        reason=Reason.SECRET, detail=detail, rule=NAME, pointer=credential.pointer
    )


RULE = Rule(
    name=NAME,
    summary="A document with text in a known credential format is dropped; the "
    "value is never written down.",
    source="As the issuers document them (curation/system/credentials.py)",
    apply=_apply,
    reasons=(Reason.SECRET,),
)
