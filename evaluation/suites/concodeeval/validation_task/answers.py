"""Yes or no? What an answer of task 2 says.

An answer counts if it says one of the two words and not the other, or says one on a
line of its own or at its beginning before it explains. What says both as equals, such
as "yes or no", says neither.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from evaluation.answers.extraction import first_fence, split_thinking
from evaluation.suites.concodeeval.answers.model import MAX_CHARACTERS
from evaluation.suites.concodeeval.compatibility import SuiteReading

_FENCE: Final = "```"
_WORD: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
#: A line that holds one of the words and marks alone.
_LINE: Final = re.compile(r"^[\W_]*(yes|no)[\W_]*$", re.IGNORECASE | re.MULTILINE)
#: The beginning of an answer: one word, and what comes right after it.
_START: Final = re.compile(
    r"\A[\W_]*(?:answer[\W_]+)?(yes|no)\b(?!\s*(?:/|\bor\b|\band\b|[,;|&-])\s*(?:yes|no)\b)",
    re.IGNORECASE,
)


class Said(StrEnum):
    """What an answer says."""

    YES = "yes"
    NO = "no"
    NEITHER = "neither"
    """Neither word stands in it."""
    BOTH = "both"
    """Both do, and none of them is the answer."""
    NOTHING = "nothing"
    """There is no text."""
    TOO_LARGE = "too_large"
    """It is longer than anything that is read."""


def what_is_said(
    text: str, *, continues: bool, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Said:
    """Return what an answer says.

    Args:
        text: What a model wrote.
        continues: Whether the prompt ended with an open fence.
        reading: In the paper's, the text in the first fence begins with the word, or
            nothing is said.

    Example:
        >>> what_is_said("**Yes**, there is no violation.", continues=False)
        <Said.YES: 'yes'>
        >>> what_is_said("yes or no", continues=False)
        <Said.BOTH: 'both'>
    """
    if len(text) > MAX_CHARACTERS:
        return Said.TOO_LARGE
    answer = split_thinking(text).answer.strip()
    if not answer:
        return Said.NOTHING
    if reading is SuiteReading.PAPER:
        return _as_published(answer, continues=continues)
    if continues and not answer.startswith(_FENCE):
        answer = answer.partition(_FENCE)[0].strip() or answer
    else:
        fenced = first_fence(answer).text
        answer = fenced if fenced and _WORD.search(fenced) else answer
    alone = {found.lower() for found in _LINE.findall(answer)}
    if alone:
        return Said(alone.pop()) if len(alone) == 1 else Said.BOTH
    start = _START.match(answer)
    if start is not None:
        return Said(start[1].lower())
    said = {found.lower() for found in _WORD.findall(answer)}
    if not said:
        return Said.NEITHER
    return Said(said.pop()) if len(said) == 1 else Said.BOTH


def _as_published(answer: str, *, continues: bool) -> Said:
    if continues and not answer.startswith(_FENCE):
        answer = f"{_FENCE}\n{answer}"
    found = first_fence(answer).text
    if found is None:
        return Said.NEITHER
    lowered = found.strip().lower()
    if lowered.startswith("yes"):
        return Said.YES
    return Said.NO if lowered.startswith("no") else Said.NEITHER
