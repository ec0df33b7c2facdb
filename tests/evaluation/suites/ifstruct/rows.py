"""Rows for tests, generated once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.generator.entity_kinds import entity_kinds
from evaluation.suites.ifstruct.generator.generate import generate_rows
from evaluation.suites.ifstruct.generator.mixes import find_mix
from evaluation.suites.ifstruct.generator.row_draw import RowSource

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.records.record import IfstructRecord


def source(
    mix: str = "even", split: str = "test", *, extended: bool = False
) -> RowSource:
    """Return what rows are drawn from."""
    return RowSource(
        split=split,
        kinds=entity_kinds(split),
        mix=find_mix(mix),
        mix_name=mix,
        extended=extended,
    )


@cache
def rows(
    count: int, mix: str = "even", seed: int = 3, *, extended: bool = False
) -> tuple[IfstructRecord, ...]:
    """Return rows of the test taxonomy."""
    return tuple(generate_rows(source(mix, extended=extended), seed, count))
