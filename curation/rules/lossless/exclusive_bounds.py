"""Boolean `exclusiveMinimum` and `exclusiveMaximum` where a draft wants numbers."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.rules.editing import mended
from curation.schema.dialects import DRAFT_04
from curation.schema.subschemas import without
from curation.schema.translation import BOUNDS, with_numeric_bounds
from curation.validation.dialect_decision import is_refused, refused_by

_NAME = "exclusive-bounds"


def _apply(document: Document, _context: Context) -> Document:
    if not is_refused(document.schema):
        return document
    old = refused_by(document.schema) is DRAFT_04
    mend = _without_idle if old else with_numeric_bounds
    return mended(document, _NAME, mend, "boolean until draft-04, a number since")


def _without_idle(schema: dict[str, Json]) -> dict[str, Json]:
    for exclusive, bound in BOUNDS:
        if isinstance(schema.get(exclusive), bool) and bound not in schema:
            schema = without(schema, exclusive)
    return schema


RULE = Rule(
    name=_NAME,
    summary="From draft-06 on a boolean `exclusiveMinimum` or `exclusiveMaximum` is "
    "written as the number beside it; one without a bound to make strict is dropped.",
    source="Draft-04 validation, sections 5.1.2 and 5.1.3; draft-06 validation, "
    "sections 6.3 and 6.5",
    apply=_apply,
    repair=RepairKind.LOSSLESS,
)
