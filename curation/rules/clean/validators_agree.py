"""Both validators: a record is one that jsonschema and jsonschema-rs can use."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.json.values import canonical_of_part
from curation.schema.dialects import BY_NAME, DRAFT_2020_12
from curation.validation.verdicts import both_verdicts


def _apply(document: Document, _context: Context) -> Document | Rejected:
    schema = document.schema
    dialect = BY_NAME[document.dialect or DRAFT_2020_12.name]
    one, other = both_verdicts(schema, dialect, canonical_of_part(schema, schema))
    if one.accepts and other.accepts:
        return document
    reason = Reason.VALIDATORS_DISAGREE
    if not one.accepts and not other.accepts:
        lost = one.lost_reference
        reason = Reason.UNRESOLVED_REFERENCE if lost else Reason.INVALID_SCHEMA
    return Rejected(reason=reason, detail=f"{dialect.name}: {one}; {other}")


RULE = Rule(
    name="validators-agree",
    summary="Keep a schema only if jsonschema and jsonschema-rs both read it and "
    "find all its references offline.",
    source="Defects of the published set: 12 records do not build in jsonschema-rs "
    "as 2020-12, 8 not under their own draft",
    apply=_apply,
    reasons=(
        Reason.VALIDATORS_DISAGREE,
        Reason.UNRESOLVED_REFERENCE,
        Reason.INVALID_SCHEMA,
    ),
)
