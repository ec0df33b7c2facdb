"""What can be set of the suite `quality`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec


class Orders(StrEnum):
    """In which order the two members of an answer are asked for."""

    REASONING_FIRST = "reasoning-first"
    """As the paper: what the model writes of the answer can build on its reasoning."""
    ANSWER_FIRST = "answer-first"
    """The reasoning can only justify the answer."""
    BOTH = "both"
    """Every problem is asked twice."""


class AnswerReading(StrEnum):
    """How the answer is found in a text."""

    JSON = "json"
    """The text is read as JSON, out of a fence or of the text around where it stands
    in some; the member `answer` must have the form that was asked for."""
    PUBLISHED = "published"
    """By the regular expressions of the published comparison: zero, negative numbers
    and decimals cannot be found, and a text need not be JSON."""


class QualitySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the suite; `--set NAME=VALUE` sets one."""

    #: In which order reasoning and answer are asked for.
    orders: Orders = Orders.BOTH
    #: How the answer is found in a text.
    reading: AnswerReading = AnswerReading.JSON
    #: Problems of each task, where there is no `--limit`; published data: at most.
    problems: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    #: Whether answers are given the tokens of the published free runs (128 and 256).
    published_budgets: bool = False
    #: Revisions of the published datasets on the Hub, by task.
    revisions: dict[str, str] = {}


def as_paper(settings: QualitySettings) -> QualitySettings:
    """Return the settings of the published comparison.

    Free and constrained answers have the same budget here too: the published free
    answers had 128 or 256 tokens, the constrained ones no limit.
    """
    return msgspec.structs.replace(
        settings,
        orders=Orders.REASONING_FIRST,
        reading=AnswerReading.PUBLISHED,
        published_budgets=True,
    )
