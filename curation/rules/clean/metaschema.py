"""The metaschema: a record is valid under that of its own dialect."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.schema.dialects import BY_NAME, DRAFT_2020_12
from curation.validation.metaschemas import (
    complaint,
    python_complaint,
    validators_may_differ,
)


def _apply(document: Document, _context: Context) -> Document | Rejected:
    dialect = BY_NAME[document.dialect or DRAFT_2020_12.name]
    error = complaint(document.schema, dialect)
    if error is None:
        return document
    detail = f"{dialect.name}: {error}"
    if (
        validators_may_differ(document.schema, dialect)
        and python_complaint(document.schema, dialect) is None
    ):
        detail = f"{detail} (jsonschema-rs); jsonschema accepts it"
        return Rejected(
            reason=Reason.VALIDATORS_DISAGREE, detail=detail, pointer=error.pointer
        )
    return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail, pointer=error.pointer)


RULE = Rule(
    name="metaschema",
    summary="Drop what the metaschema of its own dialect refuses, formats left out.",
    source="JSONSchemaBench, appendix A.1, which asks 2020-12 of every schema and so "
    "drops 289 GitHub files that are valid under their own draft",
    apply=_apply,
    reasons=(Reason.INVALID_SCHEMA, Reason.VALIDATORS_DISAGREE),
)
