"""Answers whose verdict is known: right ones, and every kind of broken one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.core.suite import KnownAnswer
from evaluation.suites.quality.records import MEMBERS, problem_of_record
from evaluation.suites.quality.tasks import ANSWER, REASONING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record


def mutants(record: Record) -> Iterator[KnownAnswer]:
    """Yield the right answer in several dresses, and what must fail.

    They are judged by the JSON reading: the published one finds answers in texts that
    are no JSON.
    """
    task, order, problem = problem_of_record(record)
    right = task.answer_text(problem, MEMBERS[order])
    members: dict[str, Json] = json.loads(right)
    yield from _right_ones(right, members, problem.reasoning)
    yield from _wrong_values(
        task.reading.value(task.reading.wrong(problem.answer)), members
    )
    yield from _wrong_forms(members)
    yield from _no_json(right, members)
    yield from _no_answer(right)


def _right_ones(
    right: str, members: dict[str, Json], reasoning: str
) -> Iterator[KnownAnswer]:
    yield KnownAnswer(kind="reference", text=right)
    yield KnownAnswer(kind="in a fence", text=f"```json\n{right}\n```")
    yield KnownAnswer(kind="with text around", text=f"So: {right} Good luck!")
    thought = f"<think>{reasoning}</think>\n{right}"
    yield KnownAnswer(kind="after thinking", text=thought)
    swapped = dict(reversed(members.items()))
    yield KnownAnswer(kind="members in the other order", text=json.dumps(swapped))
    indented = json.dumps(members, indent=4)
    yield KnownAnswer(kind="indented", text=indented)
    yield KnownAnswer(kind="with spare tokens", text=right, finish="length")


def _wrong_values(wrong: Json, members: dict[str, Json]) -> Iterator[KnownAnswer]:
    yield _known("wrong answer", {**members, ANSWER: wrong}, "wrong_answer", "not")
    misplaced = {**members, ANSWER: wrong, "solution": members[ANSWER]}
    yield _known("right answer in another member", misplaced, "wrong_answer", "not")
    told = f"The answer is {members[ANSWER]}."
    only_told = {REASONING: told, ANSWER: wrong}
    yield _known("right answer in the reasoning", only_told, "wrong_answer", "not")


def _wrong_forms(members: dict[str, Json]) -> Iterator[KnownAnswer]:
    answer = members[ANSWER]
    other_type: Json = 7 if isinstance(answer, str) else f"{answer} euros"
    values: dict[str, Json] = {
        "answer is null": None,
        "answer is a Boolean": True,
        "answer in an array": [answer],
        "answer in an object": {"value": answer},
        "answer of another type": other_type,
        "empty answer": "",
        "answer twice in a row": f"{answer}{answer}",
        "answer in other letters": str(answer).swapcase() + "!",
    }
    for kind, value in values.items():
        broken = {**members, ANSWER: value}
        yield _known(kind, broken, "form_error", "another form")
    missing = {REASONING: members[REASONING]}
    yield _known("no answer", missing, "form_error", "no member")
    misspelt = {REASONING: members[REASONING], "anwser": answer}
    yield _known("misspelt answer", misspelt, "form_error", "no member")
    yield _known("one level too deep", {"result": members}, "form_error", "no member")
    yield _known("in an array", [members], "form_error", "no object")
    yield _known("the bare answer", answer, "form_error", "no object")
    twice = f'{{"answer": {json.dumps(answer)}, "answer": {json.dumps(answer)}}}'
    yield KnownAnswer(
        kind="answer given twice", text=twice, expected="form_error", because="repeated"
    )


def _no_json(right: str, members: dict[str, Json]) -> Iterator[KnownAnswer]:
    texts = {
        "Python's spelling": repr(members),
        "trailing comma": f"{right[:-1]},}}",
        "no closing bracket": right[:-1],
        "names without quotes": right.replace(f'"{ANSWER}"', ANSWER),
        "prose": f"The answer is {members[ANSWER]}.",
        "not a number": '{"reasoning": "", "answer": NaN}',
        "nested too deep": f'{{"answer": {"[" * 400}{"]" * 400}}}',
    }
    for kind, text in texts.items():
        yield KnownAnswer(kind=kind, text=text, expected="syntax_error")
    half = right[: len(right) // 2]
    yield KnownAnswer(
        kind="tokens used up", text=half, expected="truncated", finish="length"
    )


def _no_answer(right: str) -> Iterator[KnownAnswer]:
    yield KnownAnswer(kind="empty", text="", expected="empty", because="no text")
    yield KnownAnswer(kind="white space", text=" \n", expected="empty")
    thinking = f"<think>It must be {right}"
    yield KnownAnswer(
        kind="thinking that never ends",
        text=thinking,
        expected="empty",
        because="thinking",
    )
    yield KnownAnswer(
        kind="thinking alone",
        text=f"<think>{right}</think>",
        expected="empty",
        because="thinking",
    )
    yield KnownAnswer(
        kind="tokens used up by thinking",
        text=thinking,
        expected="truncated",
        finish="length",
    )
    yield KnownAnswer(
        kind="refused", text="I cannot.", expected="refusal", finish="refusal"
    )
    yield KnownAnswer(
        kind="no answer from the server",
        text=None,
        expected="api_error",
        because="503",
        error="the server answered 503",
    )


def _known(kind: str, value: Json, expected: str, because: str) -> KnownAnswer:
    text = json.dumps(value, ensure_ascii=False)
    return KnownAnswer(kind=kind, text=text, expected=expected, because=because)
