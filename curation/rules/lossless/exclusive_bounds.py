"""Boolean `exclusiveMinimum` and `exclusiveMaximum` where a draft wants numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curation.core.rule import RepairKind, Rule
from curation.rules.editing import mended, without
from curation.schema.dialects import DRAFT_04
from curation.validation.refusal import is_refused, refused_by

if TYPE_CHECKING:
    from curation.core.documents import Document
    from curation.core.json_types import Json
    from curation.core.rule import Context

_NAME = "exclusive-bounds"
_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def apply(document: Document, _context: Context) -> Document:
    """Port the boolean bounds of a schema that is refused; drop those of nothing."""
    if not is_refused(document.schema):
        return document
    booleans = refused_by(document.schema) is DRAFT_04
    mend = partial(_mended, booleans=booleans)
    return mended(document, _NAME, mend, "boolean until draft-04, a number since")


def _mended(schema: dict[str, Json], *, booleans: bool) -> dict[str, Json]:
    """Return the schema in its draft's way, or without what says nothing in any.

    Args:
        schema: One subschema.
        booleans: Whether its draft is draft-04, where they are booleans.
    """
    for exclusive, bound in _BOUNDS:
        said = schema.get(exclusive)
        if not isinstance(said, bool) or (booleans and bound in schema):
            continue
        if said and bound in schema:
            limit = schema[bound]
            ported = {
                (exclusive if name == bound else name): (
                    limit if name == bound else value
                )
                for name, value in schema.items()
                if name != exclusive
            }
            schema = ported
        else:
            schema = without(schema, exclusive)
    return schema


RULE = Rule(
    name=_NAME,
    summary="From draft-06 on a boolean `exclusiveMinimum` or `exclusiveMaximum` is "
    "written as the number beside it; one without a bound to make strict is dropped.",
    source="Draft-04 validation, sections 5.1.2 and 5.1.3; draft-06 validation, "
    "sections 6.3 and 6.5",
    apply=apply,
    repair=RepairKind.LOSSLESS,
)
