"""Answers to problems of suite quality, as its JSON reading judges them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from evaluation.suites.quality.suite import (
    TASKS,
    Problem,
    QualitySettings,
)
from tests.evaluation.suites.known_answers import KnownAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curation.core.json_types import Json
    from evaluation.core.records import Record

#: Returns a wrong answer of the right form.
WRONG: Final[Mapping[str, Callable[[str], str]]] = {
    "last-letter": lambda answer: answer[:-1] + ("a" if answer[-1] != "a" else "b"),
    "shuffled-objects": lambda answer: "BCDEA"["ABCDE".index(answer)],
    "gsm8k": lambda answer: format(Decimal(answer) + 1, "f"),
}


def known_answers(record: Record, _settings: QualitySettings) -> Iterator[KnownAnswer]:
    """Yield answers as the JSON reading judges them."""
    question, reasoning, answer = (
        str(record.fields[field]) for field in ("question", "reasoning", "answer")
    )
    task = TASKS[record.group]
    problem = Problem(question=question, reasoning=reasoning, answer=answer)
    right = task.answer_text(problem)
    members: dict[str, Json] = json.loads(right)
    wrong = task.value(WRONG[record.group](answer))
    yield KnownAnswer(kind="reference", text=right)
    yield KnownAnswer(kind="code fence", text=f"```json\n{right}\n```")
    yield KnownAnswer(kind="after thinking", text=f"<think>So.</think>\n{right}")
    changed: tuple[tuple[str, Json, str, str], ...] = (
        ("wrong answer", {**members, "answer": wrong}, "wrong_answer", "not"),
        ("answer is null", {**members, "answer": None}, "form_error", "another form"),
        ("one level too deep", {"result": members}, "form_error", "is missing"),
        ("in an array", [members], "form_error", "not an object"),
    )
    for kind, value, expected, because in changed:
        yield KnownAnswer(
            kind=kind, text=json.dumps(value), expected=expected, because=because
        )
    texts = (
        ("Python's spelling", repr(members), "syntax_error", "stop"),
        ("no closing bracket", right[:-1], "syntax_error", "stop"),
        ("budget used up", right[: len(right) // 2], "truncated", "length"),
        ("white space", " \n", "empty", "stop"),
        ("thinking only", f"<think>{right}</think>", "empty", "stop"),
        ("refused", "I cannot.", "refusal", "refusal"),
    )
    for kind, text, expected, finish in texts:
        yield KnownAnswer(kind=kind, text=text, expected=expected, finish=finish)
    yield KnownAnswer(kind="no answer", text=None, expected="api_error", error="503")
