"""Types: a problem with its right answer, and a task with its prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from curation.core.json_types import Json

#: The two members of every answer, in the paper's order: the reasoning comes first.
REASONING: Final = "reasoning"
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem, solved."""

    question: str
    #: The steps to the answer, in a few sentences; empty if the authors publish none.
    reasoning: str
    #: The right answer in its canonical form (`QualityTask.canonical`).
    answer: str


def distinct_problems(count: int, draw: Callable[[], Problem]) -> Iterator[Problem]:
    """Yield so many problems as `draw` returns them, none of them twice."""
    questions: set[str] = set()
    while len(questions) < count:
        problem = draw()
        if problem.question not in questions:
            questions.add(problem.question)
            yield problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedData:
    """A task's published problems on the Hub, and how their rows are read."""

    #: `owner/name` of the dataset.
    repository: str
    #: Start of the paths of the files that hold the test split.
    files: str
    #: Returns the problem of a row.
    read: Callable[[Mapping[str, Json]], Problem]
    #: Rows at the start that are no problems.
    skip: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTask:
    """One of the three tasks of the paper's Table 14."""

    #: Its group in records and tables.
    name: str
    #: The system message; `{form}` stands for the form of the answer.
    instruction: str
    #: Worked examples before the question, none of them a problem of the set.
    shots: tuple[Problem, ...]
    #: The schema of the answer.
    answer_schema: Mapping[str, Json]
    #: Most characters of the reasoning.
    reasoning_length: int
    #: Tokens of an answer, the same free and constrained.
    budget: int
    #: The budget of the published free runs.
    published_budget: int
    #: Returns an answer in canonical form; None if it does not have the form.
    canonical: Callable[[Json], str | None]
    #: Returns the JSON value of a canonical answer.
    value: Callable[[str], Json]
    #: Returns a wrong answer of the right form, for the self-test.
    wrong: Callable[[str], str]
    #: Returns the answer that the published code extracts from a text, if any.
    published_answer: Callable[[str], str | None]
    #: Yields so many problems of our own, drawn with a seed.
    generate: Callable[[int, int], Iterator[Problem]]
    published: PublishedData

    def schema(self, order: tuple[str, str]) -> str:
        """Return the schema of an answer, its members in this order, as JSON text."""
        members: dict[str, Json] = {
            REASONING: {"type": "string", "maxLength": self.reasoning_length},
            ANSWER: dict(self.answer_schema),
        }
        schema: dict[str, Json] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: members[name] for name in order},
            "required": list(order),
            "additionalProperties": False,
        }
        return json.dumps(schema)

    def answer_text(self, problem: Problem, order: tuple[str, str]) -> str:
        """Return the right answer to a problem as JSON text."""
        members: dict[str, Json] = {
            REASONING: problem.reasoning[: self.reasoning_length],
            ANSWER: self.value(problem.answer),
        }
        return json.dumps({name: members[name] for name in order}, ensure_ascii=False)
