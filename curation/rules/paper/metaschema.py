"""Drop files that jsonschema refuses as 2020-12, whatever they declare."""

from __future__ import annotations

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.validation.metaschema_2020_12 import complaint


def _apply(document: Document, _context: Context) -> Document | Rejected:
    refused = complaint(document.schema)
    if refused is None:
        return document
    return Rejected(reason=Reason.INVALID_SCHEMA, detail=str(refused))


RULE = Rule(
    name="paper-check-schema",
    summary="A file that `Draft202012Validator.check_schema` of jsonschema 4.26.0 "
    "refuses is dropped, whatever draft it declares; formats count.",
    source="JSONSchemaBench paper, section 3.1 (invalid schemas are filtered out); "
    "370 GitHub, 24 SchemaStore and 6 Snowplow files, none of them published",
    apply=_apply,
    reasons=(Reason.INVALID_SCHEMA,),
)
