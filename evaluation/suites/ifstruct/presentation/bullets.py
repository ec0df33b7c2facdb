"""Bullets with explicit paths: `poems[].poem_title`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.core.fields import FieldType, all_fields
from evaluation.suites.ifstruct.presentation.wording import (
    count_text,
    limits_text,
    rules_text,
    type_text,
)

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.core.fields import Field
    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def bullets(spec: RowSpec) -> str:
    """Return one bullet a field."""
    return "\n".join(
        f"- `{path}`: {_definition(field)}" for path, field in all_fields(spec.fields)
    )


def _definition(field: Field) -> str:
    remarks = [limits_text(field), rules_text(field)]
    remarks.append("optional" if field.optional else "")
    said = "; ".join(remark for remark in remarks if remark)
    bracketed = f" ({said})" if said else ""
    about = f" - {field.about}" if field.about else ""
    match field.type:
        case FieldType.OBJECT:
            return f"an object{bracketed}{about}, with:"
        case FieldType.OBJECTS:
            count = count_text(field.min_items, field.max_items)
            return f"a list of {count} objects{bracketed}{about}, each with:"
    return f"{type_text(field)}{bracketed}{about}"
