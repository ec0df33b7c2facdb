"""Rows for tests, generated once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.generator import RowSource, generate_rows

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import IfstructRecord


def source(mix: str = "even", split: str = "test") -> RowSource:
    """Return what rows are drawn from."""
    return RowSource(split=split, mix=mix)


@cache
def rows(count: int, mix: str = "even", seed: int = 3) -> tuple[IfstructRecord, ...]:
    """Return rows of the test taxonomy."""
    return tuple(generate_rows(source(mix), seed, count))
