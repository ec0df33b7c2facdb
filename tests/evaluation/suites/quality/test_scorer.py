"""What a response to a problem is worth, and what a run's tables say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import FREE, Record, Response, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import NOT_RUN, FixedFigure, Rate, Shift
from evaluation.results.suite_tables import suite_tables
from evaluation.suites.quality.suite import (
    SUITE,
    Problem,
    QualitySettings,
    as_records,
)
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.reporting.tables import Cell, Table


SETTINGS = QualitySettings()


def _record(task: str = "gsm8k", answer: str = "18") -> Record:
    problem = Problem(question="?", reasoning="Because.", answer=answer)
    return next(as_records(task, [problem]))


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
    "text",
    [
        f'{{"reasoning": "{"x" * 1001}", "answer": 18}}',
        '{"reasoning": "", "reasoning": "", "answer": 18}',
        '{"answer": 18, "reasoning": ""}',
    ],
    ids=["long", "twice", "first"],
)
def test_the_right_answer_counts_whatever_is_around_it(text: str) -> None:
    """A schema that is not satisfied, and members in another order, cost nothing."""
    assert _verdict(text).passed


def test_the_published_reading_searches_for_an_expression() -> None:
    """Where it matches nothing, a text that was cut off is told apart."""
    paper = QualitySettings(reading="paper")
    assert _verdict('{"answer": 18', settings=paper).passed
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
            verdicts=(Verdict(passed=flag == "1", counted=counted),),
        )
        for number, flag in enumerate(right)
    ]


def _tables(free: str, constrained: str = "", *, counted: bool = True) -> list[Table]:
    """Return the tables of a run that have rows; each says whose problems they are."""
    by_label = {"m free": _answers(FREE, free, counted=counted)}
    if constrained:
        by_label["m llguidance"] = _answers("llguidance", constrained)
    run = ScoredRun(facts={"origin": "made here"}, by_label=by_label)
    found = [it for it in suite_tables(SUITE, run) if it.rows]
    assert all("made here" in it.note for it in found)
    return found


def _rows(found: list[Table], name: str) -> Sequence[Sequence[Cell]]:
    return next(it.rows for it in found if it.slug == name)


def test_a_constraint_is_compared_on_the_same_problems() -> None:
    """Ten that only the constrained answers got, one the other way: p by McNemar.

    Four problems that both got wrong do not prove that there is no difference.
    """
    found = _tables("1" + "0" * 10 + "1" * 4, "0" + "1" * 14)
    (row,) = _rows(found, "constrained")
    assert row[:2] == ("gsm8k: m free", "gsm8k: m llguidance")
    assert row[2:6] == (Rate(5, 15), Rate(14, 15), 1, 10)
    assert str(row[6]).startswith("+60.0 pp")
    assert row[7] == pytest.approx(2 * 12 / 2**11)
    (row,) = _rows(_tables("0000", "0000"), "constrained")
    assert row[6] == Shift(0.0, None)


def test_what_was_not_run_or_does_not_count_is_in_no_share() -> None:
    """A task without answers has no figure, and not the figure 0.

    A run without a constraint has nothing to compare.
    """
    found = _tables("10")
    assert _rows(found, "pass-rate") == (("all", "m free", 2, Rate(1, 2)),)
    assert _rows(found, "paper-table-7") == (
        ("m free", NOT_RUN, NOT_RUN, FixedFigure(50)),
    )
    assert "constrained" not in {it.slug for it in found}
    found = _tables("11", "10", counted=False)
    assert {row[1]: row[3] for row in _rows(found, "pass-rate")} == {
        "m free": Rate(0, 0),
        "m llguidance": Rate(1, 2),
    }
    (row,) = _rows(found, "constrained")
    assert row[2:] == (Rate(0, 0), Rate(0, 0), 0, 0, None, None)
