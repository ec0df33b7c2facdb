"""Task 2: yes, no, both or neither."""

from __future__ import annotations

import pytest

from evaluation.suites.concodeeval.answers.model import MAX_CHARACTERS
from evaluation.suites.concodeeval.compatibility import SuiteReading
from evaluation.suites.concodeeval.validation_task.answers import Said, what_is_said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yes", Said.YES),
        ("No.", Said.NO),
        ("**YES**", Said.YES),
        ("```\nno\n```", Said.NO),
        ("Answer: no", Said.NO),
        ("Yes, there is no violation.", Said.YES),
        ("The sample is fine, so: yes", Said.YES),
        ("It has no wrong member.\n\nYes", Said.YES),
        ("<think>no</think>yes", Said.YES),
        ("yes or no", Said.BOTH),
        ("yes/no", Said.BOTH),
        ("yes, no", Said.BOTH),
        ("yes\nno", Said.BOTH),
        ("Perhaps yes, perhaps no.", Said.BOTH),
        ("maybe", Said.NEITHER),
        ("yesterday, nobody", Said.NEITHER),
        ("import os; os.system('true')", Said.NEITHER),
        ("", Said.NOTHING),
        ("<think>yes", Said.NOTHING),
        ("yes " * MAX_CHARACTERS, Said.TOO_LARGE),
    ],
)
def test_an_answer_says_one_word_or_none(text: str, said: Said) -> None:
    """What says both as equals says neither."""
    assert what_is_said(text, continues=False) is said


def test_after_an_open_fence_the_text_up_to_the_next_one_counts() -> None:
    """What comes behind it is the next question that the model asks itself."""
    text = "no\n```\n\nQuestion: is this so?\nAnswer: yes"
    assert what_is_said(text, continues=True) is Said.NO


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\nyesterday\n```", Said.YES),
        ("```\nNo way\n```", Said.NO),
        ("yes", Said.NEITHER),
        ("```\nthe answer is yes\n```", Said.NEITHER),
    ],
)
def test_the_papers_reading_looks_at_the_beginning_of_the_first_fence(
    text: str, said: Said
) -> None:
    """Whatever else stands there."""
    assert what_is_said(text, continues=False, reading=SuiteReading.PAPER) is said
