"""An engine that contradicts itself or its schema is found out, in whichever text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result, WalkVerdict
from evaluation.core.records import Instance, Record
from evaluation.results.outcomes import Outcome, outcome_of
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("title", "verdict", "words"),
    [
        ("too_strict", WalkVerdict.MASK_GAP, "is not in the mask, and commit takes it"),
        ("too_lax", WalkVerdict.LIED, "is in the mask, and commit refuses it: told to"),
        ("too_small", WalkVerdict.LIED, "are needed"),
    ],
)
def test_a_liar_is_caught_in_both_directions(
    tmp_path: Path, title: str, verdict: WalkVerdict, words: str
) -> None:
    """Mask against commit, with the engine's reason; and the mask's size."""
    request = request_of(tmp_path, [sample(title, "[1, 2, 3]")])
    _, done = measured(tmp_path, [miniature("liar")], request)
    (row,) = done.rows()
    (walk,) = row.walks
    assert walk.verdict is verdict
    assert words in walk.detail
    assert "0.1 s" not in walk.detail


_LONG_FIRST = ("[1, 2, 3]", "[1]", "[1]")


def test_a_failure_that_is_told_is_no_block(tmp_path: Path) -> None:
    """An engine that never raises is asked after each step, dead copies included."""
    request = request_of(tmp_path, [sample("one", *_LONG_FIRST)])
    _, done = measured(tmp_path, [miniature("worn_out")], request, ["tells=true"])
    (row,) = done.rows()
    assert [walk.verdict for walk in row.walks] == 3 * [WalkVerdict.ENGINE_ERROR]
    assert [walk.at for walk in row.walks] == [4, 0, 0]
    assert (row.result, row.detail) == (Result.ENGINE_ERROR, "too many states: 3 >= 3")


def test_a_failure_that_is_not_told_is_a_contradiction(tmp_path: Path) -> None:
    """Without a word of the engine: it blocks what it let through, and that is said."""
    request = request_of(tmp_path, [sample("one", *_LONG_FIRST)])
    _, done = measured(tmp_path, [miniature("worn_out")], request)
    (row,) = done.rows()
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts == [WalkVerdict.BLOCKED, *2 * [WalkVerdict.CONTRADICTED]]
    assert "after the same tokens in text 1" in row.walks[1].detail
    assert outcome_of(row) is Outcome.CONTRADICTED


def test_an_engine_that_answers_for_another_schema_is_wrong_both_ways(
    tmp_path: Path,
) -> None:
    """It takes the texts of the schema before, and blocks those of this one."""
    samples = [
        Record(
            id=str(number),
            group="Made",
            schema=f'{{"const": {number}}}',
            dialect="2020-12",
            instances=(
                Instance(text=str(number), valid=True, kind="made"),
                Instance(text=str(number - 1), valid=False, kind="near_miss"),
            ),
        )
        for number in (1, 2, 3)
    ]
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("another_schema")], request)
    assert [outcome_of(row) for row in done.rows()] == [
        # The schema before the first is that of the warm-up.
        Outcome.OVER_CONSTRAINED,
        Outcome.WRONG_BOTH_WAYS,
        Outcome.WRONG_BOTH_WAYS,
    ]
