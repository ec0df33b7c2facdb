"""GSM8K: word problems that take a few steps of arithmetic.

The published problems are those of Cobbe et al. 2021 (arXiv 2110.14168). The system
message is quoted from Figure 7 of the JSONSchemaBench paper (arXiv 2501.10868), because
it defines the measurement; the worked examples are ours.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Final

from evaluation.suites.quality.problems import Problem, PublishedData, QualityTask
from evaluation.suites.quality.word_problems import word_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

_PUBLISHED: Final = re.compile(r'"answer":\s*([1-9][0-9]{0,9})')
_SEPARATOR: Final = "#### "


def _read(row: Mapping[str, Json]) -> Problem:
    reasoning, _, number = str(row["answer"]).rpartition(_SEPARATOR)
    answer = canonical_number(Decimal(number.strip().replace(",", "")))
    if answer is None:
        raise ValueError(number)
    return Problem(
        question=str(row["question"]), reasoning=reasoning.strip(), answer=answer
    )


def canonical_number(value: Json | Decimal) -> str | None:
    """Return a number in its shortest decimal form; None for what is no number.

    `18`, `18.0` and `1.8e1` are one number; a text or a Boolean is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not isinstance(value, int) and not isfinite(value):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
        shortest = number.normalize()
    except InvalidOperation:
        return None
    return format(shortest, "f") if shortest else "0"


def _value(answer: str) -> Json:
    number = Decimal(answer)
    return int(number) if number == number.to_integral_value() else float(number)


def _wrong(answer: str) -> str:
    return format(Decimal(answer) + 1, "f")


def _published_answer(text: str) -> str | None:
    found = _PUBLISHED.search(text)
    return found[1] if found else None


TASK: Final = QualityTask(
    name="gsm8k",
    instruction=(
        "You are an expert in solving grade school math tasks. You will be presented "
        "with a grade-school math word problem and be asked to solve it. Before "
        "answering, you should reason about the problem (using the "
        '"reasoning" field in the JSON response format described below). Always '
        'respond with JSON in the format: {form}. The "reasoning" field contains '
        'your logical explanation, and the "answer" field contains the final numeric '
        "result."
    ),
    shots=(
        Problem(
            question="A ferry carries 24 cars on each crossing. It crosses 5 times "
            "before noon and 3 times after. How many cars does it carry that day?",
            reasoning="It crosses 5 + 3 = 8 times. 8 crossings of 24 cars each are "
            "8 * 24 = 192 cars.",
            answer="192",
        ),
        Problem(
            question="Irma has 15 euros. She buys 4 notebooks at 2.25 euros each. How "
            "many euros does she have left?",
            reasoning="4 notebooks cost 4 * 2.25 = 9 euros. She has 15 - 9 = 6 euros "
            "left.",
            answer="6",
        ),
        Problem(
            question="At six in the morning it is 3 degrees below zero. By noon it is "
            "8 degrees warmer, and by midnight 7 degrees colder than at noon. How many "
            "degrees is it at midnight?",
            reasoning="At noon it is -3 + 8 = 5 degrees. At midnight it is 5 - 7 = -2 "
            "degrees.",
            answer="-2",
        ),
    ),
    answer_schema={"type": "number"},
    reasoning_length=1000,
    budget=384,
    published_budget=256,
    canonical=canonical_number,
    value=_value,
    wrong=_wrong,
    published_answer=_published_answer,
    generate=word_problems,
    published=PublishedData(repository="openai/gsm8k", files="main/test", read=_read),
)
