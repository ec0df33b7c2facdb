"""What a response to a problem is worth, and what a run's tables say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import FREE, Record, Response, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import NOT_RUN, FixedFigure, Rate, Shift
from evaluation.results.suite_tables import suite_tables
from evaluation.suites.quality.records import (
    Problem,
    QualitySettings,
    as_records,
)
from evaluation.suites.quality.report import tables
from evaluation.suites.quality.suite import SUITE
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.reporting.tables import Table


SETTINGS = QualitySettings()


def _record(task: str = "gsm8k", answer: str = "18") -> Record:
    problem = Problem(question="?", reasoning="Because.", answer=answer)
    return next(as_records(task, {"0000": problem}))


def _verdict(text: str | None, settings: QualitySettings = SETTINGS) -> Verdict:
    record = _record()
    return SUITE.scorer(settings)(record)(Response(record=record.key, text=text))


_RIGHT = {"gsm8k": "18", "last-letter": "abcd", "shuffled-objects": "B"}


def test_each_fault_has_its_class_for_the_reason_intended(
    subtests: pytest.Subtests,
) -> None:
    """Of every class but those of scoring; envelopes are no faults."""
    rows = table(__file__, "faults")
    for row in rows:
        task = row["task"]
        given = {name: row[name] for name in ("finish", "error") if name in row}
        with subtests.test(row["fault"], task=task):
            record = _record(task, _RIGHT[task])
            response = Response(record=record.key, text=row["text"], **given)
            verdict = SUITE.scorer(SETTINGS)(record)(response)
            assert verdict.failure_class == row["class"]
            assert row.get("because", "") in " ".join(verdict.reasons)
    assert {row["class"] for row in rows} == {"", *SUITE.classes}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *(("9" * 5000, "syntax_error"), ("1e999", "syntax_error")),
        *(("1e300", "wrong_answer"), ('"' + "x" * 10_000_000 + '"', "form_error")),
        *(('"1,8"', "form_error"), ('"1,000"', "wrong_answer"), ('" 18.0"', "")),
        *(("1.8e1", ""), ("true", "form_error")),
    ],
    ids=lambda value: value[:12],
)
def test_an_answer_is_a_number_of_any_spelling(answer: str, expected: str) -> None:
    """Or a failure, and no fault, however long."""
    verdict = _verdict(f'{{"reasoning": "", "answer": {answer}}}')
    assert verdict.failure_class == expected


@pytest.mark.parametrize(
    "reasoning", ['"' + "x" * 1001 + '"', '"", "reasoning": ""'], ids=["long", "twice"]
)
def test_the_right_answer_counts_where_the_schema_is_not_satisfied(
    reasoning: str,
) -> None:
    """Accuracy and validity are two figures: a long reasoning costs the second only."""
    verdict = _verdict(f'{{"reasoning": {reasoning}, "answer": 18}}')
    assert verdict.passed
    assert verdict.scores == {"valid": 0.0, "in_order": 1.0, "correct": 1.0}


def test_the_order_of_the_members_is_a_figure() -> None:
    """A model that answers first where it was to reason first is seen."""
    verdict = _verdict('{"answer": 18, "reasoning": ""}')
    assert verdict.passed
    assert verdict.scores["in_order"] == 0


def test_the_published_reading_knows_nothing_of_validity() -> None:
    """It is a search for an expression."""
    paper = QualitySettings(reading="paper")
    for text in ('{"answer": 18}', "18", None):
        assert "valid" not in _verdict(text, settings=paper).scores
    for finish, expected in (("length", "truncated"), ("stop", "form_error")):
        response = Response(record="r", text="It is", finish=finish)
        verdict = SUITE.scorer(paper)(_record())(response)
        assert verdict.failure_class == expected


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, '{"answer": ' * 10_000, "\x00", "\ud800", '{"answer": "\\ud800"}'],
)
def test_a_hostile_text_is_a_failure_of_its_class(text: str) -> None:
    """Nothing that a model writes is a fault of ours."""
    assert _verdict(text).failure_class in {"syntax_error", "form_error"}


def _run(
    by_label: Mapping[str, Sequence[ScoredResponse]], origin: str = "made here"
) -> ScoredRun:
    return ScoredRun(facts={"origin": origin}, by_label=by_label)


def _answers(
    condition: str, right: str, *, counted: bool = True
) -> list[ScoredResponse]:
    """Return one answer a character of `right`: `1` is right, `0` is wrong."""
    return [
        ScoredResponse(
            record=f"gsm8k/{number:04d}",
            group="gsm8k",
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
    return next(found for found in tables(run) if found.slug == name)


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


def test_accuracy_has_the_shares_of_valid_and_ordered_answers() -> None:
    """Of answers of which neither is known there is no share, and not the share 0."""
    answers = _answers(FREE, "10")
    (row,) = _table(_run({"m free": answers}), "accuracy").rows
    assert row == ("gsm8k", "m free", Rate(1, 2), Rate(2, 2), Rate(1, 2), 10.0)
    unknown = [replace(it, verdicts=(Verdict(passed=True),)) for it in answers]
    (row,) = _table(_run({"m free": unknown}), "accuracy").rows
    assert row == ("gsm8k", "m free", Rate(2, 2), None, None, 10.0)


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
            "m free": _answers(FREE, "1"),
            "m llguidance": _answers("llguidance", "1"),
        }
    )
    found = [it for it in suite_tables(SUITE, run) if it.rows]
    assert len(found) == 7
    assert all("made here" in it.note for it in found)


def test_a_table_without_a_row_is_not_shown() -> None:
    """A run without a constraint, in one order, has nothing to compare."""
    run = _run({"m free": _answers(FREE, "1")})
    assert [it.slug for it in tables(run) if it.rows] == [
        "accuracy",
        "paper-table-7",
    ]
