"""A flat list of paths, each with its definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.core.fields import all_fields
from evaluation.suites.ifstruct.presentation.wording import (
    limits_text,
    rules_text,
    type_text,
)

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.core.fields import Field
    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def glossary(spec: RowSpec) -> str:
    """Return one line a path: `poems[].poem_title = string; Title of the poem`."""
    return "\n".join(
        f"{path} = {'; '.join(_parts(field))}"
        for path, field in all_fields(spec.fields)
    )


def _parts(field: Field) -> list[str]:
    parts = [type_text(field), limits_text(field), rules_text(field)]
    parts += ["optional" if field.optional else "", field.about]
    return [part for part in parts if part]
