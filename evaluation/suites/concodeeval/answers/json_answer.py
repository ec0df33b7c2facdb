"""Answers written as JSON."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evaluation.answers.json_answers import JsonProblem, read_json_answer
from evaluation.suites.concodeeval.answers.model import NotRead, Read, Unreadable
from evaluation.suites.concodeeval.compatibility import SuiteReading

if TYPE_CHECKING:
    from collections.abc import Mapping

_WHY: Final[Mapping[JsonProblem, Unreadable]] = MappingProxyType(
    {
        JsonProblem.SYNTAX: Unreadable.SYNTAX,
        JsonProblem.NOT_A_NUMBER: Unreadable.NOT_JSON,
        JsonProblem.LONE_SURROGATE: Unreadable.NOT_JSON,
        JsonProblem.TOO_DEEP: Unreadable.TOO_DEEP,
        JsonProblem.TOO_LARGE: Unreadable.TOO_LARGE,
    }
)


def read_json(
    text: str, reading: SuiteReading = SuiteReading.RECOMMENDED
) -> Read | NotRead:
    """Return the value of a JSON text (RFC 8259).

    The paper's reading is that of Python's `json`: of two equal names the last counts.
    """
    answer = read_json_answer(text)
    if answer.problem is not None:
        return NotRead(_WHY[answer.problem], answer.detail)
    if answer.duplicates and reading is not SuiteReading.PAPER:
        detail = f"the member {answer.duplicates[0][:80]!r} stands twice"
        return NotRead(Unreadable.DUPLICATE_NAME, detail)
    return Read(answer.value)
