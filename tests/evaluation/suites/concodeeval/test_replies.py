"""Task 2: yes, no, both or neither."""

from __future__ import annotations

import pytest

from evaluation.answers.extraction import triage
from evaluation.core.records import Response
from evaluation.suites.concodeeval.answer_text import FREE_RULES
from evaluation.suites.concodeeval.scorer import Reply, reply_of
from evaluation.suites.concodeeval.settings import MAX_CHARACTERS, SuiteReading


def _reply(
    text: str, *, continues: bool, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Reply:
    answer = triage(Response(record="a", text=text), FREE_RULES)
    return reply_of(answer, continues=continues, reading=reading)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yes", Reply.YES),
        ("No.", Reply.NO),
        ("**YES**", Reply.YES),
        ("```\nno\n```", Reply.NO),
        ("Answer: no", Reply.NO),
        ("Yes, there is no violation.", Reply.YES),
        ("Yes, no constraint is violated.", Reply.YES),
        ("The sample is fine, so: yes", Reply.YES),
        ("It has no wrong member.\n\nYes", Reply.YES),
        ("<think>no</think>yes", Reply.YES),
        ("yes or no", Reply.BOTH),
        ("yes/no", Reply.BOTH),
        ("yes, no", Reply.BOTH),
        ("yes\nno", Reply.BOTH),
        ("yes no " * 1_000, Reply.BOTH),
        ("Perhaps yes, perhaps no.", Reply.BOTH),
        ("maybe", Reply.NEITHER),
        ("?\n" * (MAX_CHARACTERS // 2), Reply.NEITHER),
        ("yesterday, nobody", Reply.NEITHER),
        ("import os; os.system('true')", Reply.NEITHER),
        ("", Reply.NOTHING),
        ("<think>yes", Reply.NOTHING),
        ("yes " * MAX_CHARACTERS, Reply.TOO_LARGE),
    ],
)
def test_an_answer_says_one_word_or_none(text: str, said: Reply) -> None:
    """What says both as equals says neither."""
    assert _reply(text, continues=False) is said


def test_after_an_open_fence_the_text_up_to_the_next_one_counts() -> None:
    """What comes behind it is the next question that the model asks itself."""
    text = "no\n```\n\nQuestion: is this so?\nAnswer: yes"
    assert _reply(text, continues=True) is Reply.NO


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\nyesterday\n```", Reply.YES),
        ("```\nNo way\n```", Reply.NO),
        ("yes", Reply.NEITHER),
        ("```\nthe answer is yes\n```", Reply.NEITHER),
    ],
)
def test_the_papers_reading_looks_at_the_beginning_of_the_first_fence(
    text: str, said: Reply
) -> None:
    """Whatever else stands there."""
    assert _reply(text, continues=False, reading=SuiteReading.PAPER) is said
