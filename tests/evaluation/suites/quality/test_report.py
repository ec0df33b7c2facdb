"""Tables of a run: accuracy, and what constraint and order of members change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import FREE, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import NOT_RUN, FixedFigure, Rate, Shift
from evaluation.results.suite_tables import suite_report
from evaluation.suites.quality.report import quality_report
from evaluation.suites.quality.suite import SUITE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.reporting.tables import Table


def _run(
    by_label: Mapping[str, Sequence[ScoredResponse]], origin: str = "made here"
) -> ScoredRun:
    return ScoredRun(facts={"origin": origin}, by_label=by_label)


def _answers(
    condition: str, right: str, group: str = "gsm8k", *, counted: bool = True
) -> list[ScoredResponse]:
    """Return one answer a character of `right`: `1` is right, `0` is wrong."""
    return [
        ScoredResponse(
            record=f"{group}/{number:04d}",
            group=group,
            repeat=0,
            model="m",
            condition=condition,
            verdicts=(
                Verdict(
                    passed=flag == "1",
                    failure_class="" if flag == "1" else "wrong_answer",
                    scores={"valid": 1.0, "in_order": float(flag == "1")},
                    counted=counted,
                ),
            ),
            output_tokens=10,
        )
        for number, flag in enumerate(right)
    ]


def _table(run: ScoredRun, name: str) -> Table:
    return next(table for table in quality_report(run).tables if table.slug == name)


def test_a_constraint_is_compared_on_the_same_problems() -> None:
    """Ten that only the constrained answers got, one the other way: p by McNemar."""
    run = _run(
        {
            "m free": _answers(FREE, "1" + "0" * 10 + "1" * 4),
            "m llguidance": _answers("llguidance", "0" + "1" * 14),
        }
    )
    (row,) = _table(run, "constrained").rows
    assert row[:2] == ("gsm8k: m free", "gsm8k: m llguidance")
    assert row[2:6] == (Rate(5, 15), Rate(14, 15), 1, 10)
    assert str(row[6]).startswith("+60.0 pp")
    assert row[7] == pytest.approx(2 * 12 / 2**11)


def test_orders_are_compared_by_problem() -> None:
    """The record of a problem has one id in both groups."""
    answers = [*_answers(FREE, "1111"), *_answers(FREE, "1100", "gsm8k (answer-first)")]
    (row,) = _table(_run({"m free": answers}), "answer-first").rows
    assert row[:2] == ("gsm8k: m free", "gsm8k (answer-first): m free")
    assert row[2:6] == (Rate(4, 4), Rate(2, 4), 2, 0)


def test_pairs_that_all_agree_give_no_interval() -> None:
    """Four problems that both got wrong do not prove that there is no difference."""
    run = _run(
        {
            "m free": _answers(FREE, "0000"),
            "m llguidance": _answers("llguidance", "0000"),
        }
    )
    (row,) = _table(run, "constrained").rows
    assert row[6] == Shift(0.0, None)


def test_what_was_not_run_is_not_run() -> None:
    """A task without answers has no figure, and not the figure 0."""
    run = _run({"m free": _answers(FREE, "10")})
    (row,) = _table(run, "paper-table-7").rows
    assert row == ("m free", NOT_RUN, NOT_RUN, FixedFigure(50))


def test_answers_that_nobody_can_be_blamed_for_are_in_no_share() -> None:
    """They stay out of the denominator, and out of every pair."""
    run = _run(
        {
            "m free": _answers(FREE, "11", counted=False),
            "m llguidance": _answers("llguidance", "10"),
        }
    )
    rows = {row[1]: row[2] for row in _table(run, "accuracy").rows}
    assert rows == {"m free": Rate(0, 0), "m llguidance": Rate(1, 2)}
    (row,) = _table(run, "constrained").rows
    assert row[2:] == (Rate(0, 0), Rate(0, 0), 0, 0, None, None)


def test_every_table_says_whose_problems_they_are() -> None:
    """A figure on problems of our own is no figure on the published ones."""
    run = _run(
        {
            "m free": [
                *_answers(FREE, "1"),
                *_answers(FREE, "1", "gsm8k (answer-first)"),
            ],
            "m llguidance": _answers("llguidance", "1"),
        }
    )
    tables = suite_report(SUITE, run).tables
    assert len(tables) == 8
    assert all("made here" in table.note for table in tables)


def test_a_table_without_a_row_is_not_shown() -> None:
    """A run without a constraint, in one order, has nothing to compare."""
    tables = quality_report(_run({"m free": _answers(FREE, "1")})).tables
    assert [table.slug for table in tables] == ["accuracy", "paper-table-7"]
