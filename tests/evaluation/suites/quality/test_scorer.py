"""What a response to a problem is worth, by both readings."""

from __future__ import annotations

import pytest

from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.quality.records import (
    Orders,
    QualitySettings,
    as_paper,
    as_records,
)
from evaluation.suites.quality.suite import SUITE
from evaluation.suites.quality.tasks import TASKS, Problem
from tests.evaluation.suites.quality.mutants import mutants

SETTINGS = QualitySettings()


def _record(
    task: str = "gsm8k", answer: str = "18", order: Orders = Orders.REASONING_FIRST
) -> Record:
    problem = Problem(question="?", reasoning="Because.", answer=answer)
    return next(as_records(TASKS[task], order, {"0000": problem}))


def _verdict(
    text: str | None,
    task: str = "gsm8k",
    answer: str = "18",
    settings: QualitySettings = SETTINGS,
    finish: str = "stop",
) -> Verdict:
    record = _record(task, answer)
    response = Response(record=record.key, text=text, finish=finish)
    return SUITE.scorer(settings)(record)(response)


def test_every_known_answer_gets_its_class_for_the_reason_intended() -> None:
    """Right answers in every dress pass; at least 20 kinds of broken ones all fail."""
    score = SUITE.scorer(SETTINGS)
    failing: set[str] = set()
    for record in SUITE.generate(60, 0, SETTINGS):  # type: ignore[misc]  # it has one
        for known in mutants(record):
            response = Response(
                record=record.key,
                text=known.text,
                finish=known.finish,
                error=known.error,
            )
            verdict = score(record)(response)
            assert verdict.failure_class == known.expected, known.kind
            assert verdict.passed == (not known.expected)
            assert known.because in " ".join(verdict.reasons), known.kind
            if known.expected:
                failing.add(known.kind)
    assert len(failing) >= 20


def test_the_self_test_has_answers_of_every_class() -> None:
    """Some pass, and each class of failure has one."""
    score = SUITE.scorer(SETTINGS)
    classes = set()
    for record in SUITE.generate(6, 0, SETTINGS):  # type: ignore[misc]  # it has one
        for known in SUITE.known_answers(record, SETTINGS):
            response = Response(
                record=record.key,
                text=known.text,
                finish=known.finish,
                error=known.error,
            )
            verdict = score(record)(response)
            assert verdict.failure_class == known.expected, known.kind
            assert known.because in " ".join(verdict.reasons), known.kind
            classes.add(known.expected)
    assert classes == {"", *SUITE.classes}


@pytest.mark.parametrize("number", ["18", "18.0", "1.8e1", "1800e-2"])
def test_a_number_is_the_same_in_every_spelling(number: str) -> None:
    """Answers are compared as numbers."""
    assert _verdict(f'{{"reasoning": "", "answer": {number}}}').passed


@pytest.mark.parametrize(
    ("answer", "text"), [("0", "0"), ("0", "-0.0"), ("-7", "-7"), ("2.25", "2.25")]
)
def test_zero_negative_and_decimal_answers_can_be_right(answer: str, text: str) -> None:
    """The published expression can find none of them."""
    told = f'{{"reasoning": "", "answer": {text}}}'
    assert _verdict(told, answer=answer).passed
    assert not _verdict(told, answer=answer, settings=as_paper(SETTINGS)).passed


def test_a_number_too_long_to_compare_is_a_failure_and_no_fault() -> None:
    """5,000 digits, and a number beyond a double."""
    digits = f'{{"reasoning": "", "answer": {"9" * 5000}}}'
    assert _verdict(digits).failure_class == "syntax_error"
    assert (
        _verdict('{"reasoning": "", "answer": 1e999}').failure_class == "syntax_error"
    )
    assert (
        _verdict('{"reasoning": "", "answer": 1e300}').failure_class == "wrong_answer"
    )


@pytest.mark.parametrize("letter", ["C", "(C)"])
def test_a_letter_is_right_with_and_without_parentheses(letter: str) -> None:
    """The paper asks for both, in two places."""
    told = f'{{"reasoning": "", "answer": "{letter}"}}'
    assert _verdict(told, "shuffled-objects", "C").passed


def test_letters_are_compared_case_and_all() -> None:
    """Table 14 says so of Last Letter; upper case is not the form asked for."""
    told = '{"reasoning": "", "answer": "NRDN"}'
    assert _verdict(told, "last-letter", "nrdn").failure_class == "form_error"
    assert _verdict(told, "last-letter", "nrdn", as_paper(SETTINGS)).passed


def test_the_right_answer_counts_where_the_schema_is_not_satisfied() -> None:
    """Accuracy and validity are two figures: a long reasoning costs the second only."""
    long = "x" * 1001
    verdict = _verdict(f'{{"reasoning": "{long}", "answer": 18}}')
    assert verdict.passed
    assert verdict.scores == {"valid": 0.0, "in_order": 1.0, "correct": 1.0}


def test_the_order_of_the_members_is_a_figure() -> None:
    """A model that answers first where it was to reason first is seen."""
    verdict = _verdict('{"answer": 18, "reasoning": ""}')
    assert verdict.passed
    assert verdict.scores["in_order"] == 0


def test_the_published_reading_finds_an_answer_in_what_is_no_json() -> None:
    """It is a search for an expression, and stops at a decimal point."""
    paper = as_paper(SETTINGS)
    assert _verdict('so "answer": 18, I think', settings=paper).passed
    assert _verdict('{"answer": 18.5}', settings=paper).passed
    assert not _verdict('{"answer": "18"}', settings=paper).passed
    for text in ('{"answer": 18}', "18", None):
        assert "valid" not in _verdict(text, settings=paper).scores


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, '{"answer": ' * 10_000, "\x00", "\ud800", '{"answer": "\\ud800"}'],
)
def test_a_hostile_text_is_a_failure_of_its_class(text: str) -> None:
    """Nothing that a model writes is a fault of ours."""
    assert _verdict(text).failure_class in {"syntax_error", "form_error"}


def test_ten_megabytes_of_answer_are_judged() -> None:
    """The reasoning may be as long as it likes."""
    assert _verdict(f'{{"reasoning": "{"x" * 10_000_000}", "answer": 18}}').passed
