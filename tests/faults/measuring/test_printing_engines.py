"""What an engine prints is data of its row, and never breaks anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result
from tests.evaluation.measuring import BRISK, measured, miniature, request_of, sample
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("title", "phase"),
    first_fast(
        1, [("behind-it", "compile"), ("by-python", "compile"), ("in-mask", "walk")]
    ),
)
def test_an_engine_that_prints_without_end_is_said_to(
    tmp_path: Path, title: str, phase: str
) -> None:
    """It is no refusal and no hang; what it printed last is kept, and little of it."""
    samples = [sample("first", "{}"), sample(title, "{}"), sample("last", "{}")]
    bounds = replace(BRISK, compile_seconds=30.0, run_seconds=30.0)
    request = request_of(tmp_path, samples, bounds=bounds)
    _, done = measured(tmp_path, [miniature("flood")], request)
    by_id = {row.id: row for row in done.rows()}
    before, row, after = (by_id[one.id] for one in samples)
    assert (row.result, row.phase) == (Result.TOO_MUCH_OUTPUT, phase)
    assert "printed over 60 MiB" in row.detail
    assert any("still warning" in line for line in row.warnings)
    assert len(row.warnings) <= 50
    assert before.result is after.result is Result.OK


def test_a_babbler_does_not_break_the_protocol(tmp_path: Path) -> None:
    """What it prints, by whichever layer, is data of the row: forged answers too."""
    request = request_of(tmp_path, [sample("one", "{}"), sample("two", "{}")])
    _, done = measured(tmp_path, [miniature("babbler")], request)
    for row in done.rows():
        assert row.result is Result.OK
        assert set(row.warnings) == {
            'compiling {"title":',
            "careful",
            # The time of day before it is gone, so that runs can be compared.
            "native: Warning",
            '{"request": 0, "answer": {"compile_ns": 1}}',
            "by the C library",
        }
