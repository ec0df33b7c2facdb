"""Known answers for `suite selftest`: right ones, and some for each class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.core.suite import KnownAnswer
from evaluation.suites.quality.problems import ANSWER
from evaluation.suites.quality.records import MEMBERS, problem_of_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord
    from evaluation.suites.quality.settings import QualitySettings


def known_answers(
    record: SuiteRecord, _settings: QualitySettings
) -> Iterator[KnownAnswer]:
    """Yield answers as the JSON reading judges them."""
    task, order, problem = problem_of_record(record)
    right = task.answer_text(problem, MEMBERS[order])
    members: dict[str, Json] = json.loads(right)
    wrong = task.value(task.wrong(problem.answer))
    yield KnownAnswer(kind="reference", text=right)
    yield KnownAnswer(kind="code fence", text=f"```json\n{right}\n```")
    yield KnownAnswer(kind="after thinking", text=f"<think>So.</think>\n{right}")
    changed: tuple[tuple[str, Json, str, str], ...] = (
        ("wrong answer", {**members, ANSWER: wrong}, "wrong_answer", "not"),
        ("answer is null", {**members, ANSWER: None}, "form_error", "form asked for"),
        ("one level too deep", {"result": members}, "form_error", "no member"),
        ("in an array", [members], "form_error", "no object"),
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
