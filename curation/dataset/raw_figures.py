"""What the paper's Tables 8 and 9 count of a file before any rule touched it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.dataset.paper_tables import draft_of
from curation.schema.measures import nesting_of_document, size_bytes

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.core.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFigures:
    """The figures of one raw file; a ledger has them where the rules are the paper's.

    The paper computed its Table 8 on the raw files.
    """

    #: Bytes of the JSON text with Python's default separators.
    raw_size: int
    raw_field_count: int
    #: Most keys of one object, arrays not entered.
    raw_fan_out: int
    raw_depth: int
    #: The draft whose name stands in the root's `$schema`, or `unknown`.
    raw_draft: str


def raw_figures(schema: Json, record: Record | None = None) -> RawFigures:
    """Return the figures of a parsed raw file.

    Args:
        schema: The parsed file.
        record: The record of the same schema, where no rule has changed it.
    """
    nested = nesting_of_document(schema)
    return RawFigures(
        raw_size=size_bytes(schema) if record is None else record.size,
        raw_field_count=nested.field_count,
        raw_fan_out=nested.fan_out,
        raw_depth=nested.depth,
        raw_draft=draft_of(schema),
    )
