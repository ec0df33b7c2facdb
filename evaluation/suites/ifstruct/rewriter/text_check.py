"""Does a text say all that its row asks for, and nothing else in the end?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.rewriter.field_check import lost_facts
from evaluation.suites.ifstruct.rewriter.last_word import not_said

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.core.row_spec import RowSpec


def lost_requirements(spec: RowSpec, text: str) -> tuple[str, ...]:
    """Return each requirement that a text lost, empty if it says all of them.

    The same check is applied to what the voices here say and to what a model wrote.

    Args:
        spec: The choices of the row.
        text: The request as somebody will read it.
    """
    return (*not_said(spec, text), *lost_facts(spec, text))
