"""A table drawn in characters, one row a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.fields import Field, FieldType, all_fields
from evaluation.suites.ifstruct.presentation.wording import (
    count_text,
    enum_text,
    rules_text,
    signs_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.suites.ifstruct.core.row_spec import RowSpec

_HEAD: Final = ("path", "type", "limits", "required", "notes")
_TYPES: Final = {
    FieldType.ENUM: "string",
    FieldType.OBJECTS: "list of objects",
    FieldType.STRINGS: "list of strings",
}


def table(spec: RowSpec) -> str:
    """Return the table, framed with `+`, `-` and `|`."""
    rows = [_HEAD, *(_row(path, field) for path, field in all_fields(spec.fields))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = f"+{'+'.join('-' * (width + 2) for width in widths)}+"
    lines = [_line(row, widths) for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def _row(path: str, field: Field) -> tuple[str, ...]:
    limits = signs_text(field)
    if field.type is FieldType.ENUM:
        limits = enum_text(field, "/")
    elif field.type in (FieldType.OBJECTS, FieldType.STRINGS):
        limits = f"{count_text(field.min_items, field.max_items)} items"
    required = "optional" if field.optional else "yes"
    if field.when is not None:
        required = "see notes"
    notes = "; ".join(part for part in (rules_text(field), field.about) if part)
    return path, _TYPES.get(field.type, str(field.type)), limits, required, notes


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"
