"""Drop schemas that are proven to accept no instance."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.lint.satisfiability import refute
from curation.schema.dialects import BY_NAME

_NAME = "unsatisfiable"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    proof = refute(document.schema, BY_NAME[document.dialect or "2020-12"])
    if proof is None:
        return document
    return Rejected(
        reason=Reason.UNSATISFIABLE, detail=str(proof), pointer=proof.pointer
    )


RULE = Rule(
    name=_NAME,
    summary="A schema that provably accepts no instance is dropped: jsonschema-rs "
    "reduces it to one that accepts nothing, with formats asserted and without.",
    source="Meaning of the keywords in the validation specification",
    apply=_apply,
    reasons=(Reason.UNSATISFIABLE,),
)
