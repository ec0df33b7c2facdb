"""The self-test's answers in the form that all suites share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.suite import KnownAnswer
from evaluation.suites.ifstruct.answers.known import judged_answers
from evaluation.suites.ifstruct.answers.reference import reference_answer
from evaluation.suites.ifstruct.records.asked import read_asked
from evaluation.suites.ifstruct.verifier.findings import Failure, RuleReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.suite_records import SuiteRecord
    from evaluation.suites.ifstruct.settings import IfstructSettings


def known_answers(
    record: SuiteRecord, settings: IfstructSettings
) -> Iterator[KnownAnswer]:
    """Yield right answers to a row, broken ones, and ones that are no answer at all.

    A fault that no rule can see is there as `unseen: ...`, and passes.
    """
    row = read_asked(record)
    for answer in judged_answers(row, settings.decides):
        failure = str(answer.failure or "")
        yield KnownAnswer(
            kind=answer.kind, text=answer.text, expected=failure, because=failure
        )
    text = reference_answer(row).text
    yield KnownAnswer(kind="thought before", text=f"<think>{{[</think>\n{text}")
    yield KnownAnswer(kind="thought apart", text=text, reasoning='[{"not": "judged"}]')
    yield KnownAnswer(kind="end token", text=f"{text}<|im_end|>")
    yield KnownAnswer(kind="null", text=None, expected=Failure.NO_ANSWER)
    yield KnownAnswer(
        kind="server error",
        text=None,
        error="HTTP 500: try later",
        expected=Failure.NO_ANSWER,
        because="HTTP 500",
    )
    yield KnownAnswer(
        kind="refused by the server",
        text="",
        finish="content_filter",
        expected=Failure.REFUSED,
    )
    if settings.decides is RuleReading.RECOMMENDED:
        yield KnownAnswer(
            kind="cut by the budget",
            text='[{"a_name": "begun',
            finish="length",
            expected=Failure.TRUNCATED,
        )
