"""The suite `quality`: right answers with and without a constraint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from curation.core.json_types import Json
from curation.system.registry import imported_late
from evaluation.core.records import Message, Prompt, Record
from evaluation.core.suite import KnownAnswer, Suite
from evaluation.suites.quality.records import (
    MEMBERS,
    PUBLISHED,
    QualitySettings,
    as_paper,
    problem_of_record,
    quality_records,
)
from evaluation.suites.quality.scorer import CLASSES, quality_scorer
from evaluation.suites.quality.tasks import ANSWER, REASONING, with_prompts

_FORMS: Final = {
    REASONING: '"reasoning": <reasoning about the answer>',
    ANSWER: '"answer": <final answer>',
}


def quality_prompt(record: Record, settings: QualitySettings) -> Prompt:
    """Return the conversation that asks for a problem's answer.

    The worked examples are separate turns. Only the order of members differs
    between the orders.

    Raises:
        NoInput: the file of prompts cannot be read.
        BadData: it lacks the prompt of a task.
    """
    task, order, problem = problem_of_record(record)
    if settings.prompts:
        task = with_prompts(task, settings.prompts)
    members = MEMBERS[order]
    form = "{" + ", ".join(_FORMS[name] for name in members) + "}"
    instruction = task.instruction.replace("{form}", form)
    messages = [Message(role="system", content=instruction)]
    for shot in task.shots:
        messages += [
            Message(role="user", content=shot.question),
            Message(role="assistant", content=task.answer_text(shot, members)),
        ]
    messages.append(Message(role="user", content=problem.question))
    published = settings.reading == "paper"
    budget = task.published_budget if published else task.budget
    return Prompt(messages=tuple(messages), budget=budget)


def known_answers(record: Record, _settings: QualitySettings) -> Iterator[KnownAnswer]:
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
        ("answer is null", {**members, ANSWER: None}, "form_error", "another form"),
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


SUITE: Final = Suite(
    name="quality",
    summary="Right answers with and without a constraint: Last Letter, Shuffle "
    "Objects and GSM8K, as section 6 of the JSONSchemaBench paper.",
    settings=QualitySettings,
    classes=CLASSES,
    records=quality_records,
    prompt=quality_prompt,
    scorer=quality_scorer,
    tables=imported_late("evaluation.suites.quality.report", "tables"),
    known_answers=known_answers,
    published=PUBLISHED,
    paper=as_paper,
)
