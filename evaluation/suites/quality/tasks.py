"""The three tasks of the paper's Table 14: their problems, and how answers are read.

Last Letter (Wei et al. 2022, arXiv 2201.11903): concatenate the last letters of four
names. Shuffle Objects (Srivastava et al. 2022, arXiv 2206.04615, with five objects):
follow exchanges among five people; the answer is a letter, which the paper puts in
parentheses in section 6.1 and not in Table 14, so both are taken. GSM8K (Cobbe et al.
2021, arXiv 2110.14168): a few steps of arithmetic. Prompts are in `tasks.toml`,
problems to try a run with in `sample.jsonl`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, Final

from curation.core.json_types import Json
from curation.system.errors import BadData
from curation.system.user_files import read_utf8, reading

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
    #: What its problem shares with others; empty for one by itself.
    story: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTask:
    """One task."""

    #: Its group in records and tables.
    name: str
    #: The system message; `{form}` represents the form of the answer.
    instruction: str
    #: Worked examples before the question, none of them a problem of the set.
    shots: Sequence[Problem]
    #: The schema of the answer.
    answer_schema: Mapping[str, Json]
    #: Most characters of the reasoning.
    reasoning_length: int
    #: Tokens of an answer, the same free and constrained; from published free runs.
    budget: int
    published_budget: int
    #: The published problems on the Hub: `owner/name`, the start of the paths of the
    #: files that hold the test split, and rows at the start that are not problems.
    repository: str
    files: str
    skip: int = 0
    #: Returns an answer in canonical form; None if it does not have the form.
    canonical: Callable[[Json], str | None]
    #: Returns the JSON value of a canonical answer.
    value: Callable[[str], Json]
    #: Returns the problem of a published row.
    read: Callable[[Mapping[str, Json]], Problem]
    #: The published code's expression for the answer in a text, and its case.
    published: str
    fold: Callable[[str], str] = str

    def published_answer(self, text: str) -> str | None:
        """Return the answer that the published code extracts from a text, if any."""
        match = re.search(self.published, text)
        return self.fold(match[1]) if match else None

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

    def sample(self) -> list[Problem]:
        """Return the bundled problems; problems with one story are dependent."""
        rows = map(json.loads, _text("sample.jsonl").splitlines())
        return [Problem(**row) for row in rows if row.pop("task") == self.name]


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _read_letters(row: Mapping[str, Json]) -> Problem:
    answer = str(row["answer"]).strip().lower()
    return Problem(question=str(row["question"]), reasoning="", answer=answer)


def _four_letters(value: Json) -> str | None:
    fits = isinstance(value, str) and re.fullmatch("[A-Za-z]{4}", value)
    return str(value).lower() if fits else None


def _option(value: Json) -> str | None:
    if not isinstance(value, str):
        return None
    match = re.fullmatch(r"\(?([A-E])\)?", value.upper())
    return match[1] if match else None


def _read_exchanges(row: Mapping[str, Json]) -> Problem:
    answer = _option(str(row["target"]).strip())
    if answer is None:
        raise ValueError(row["target"])
    return Problem(question=str(row["input"]), reasoning="", answer=answer)


def _read_sums(row: Mapping[str, Json]) -> Problem:
    reasoning, _, number = str(row["answer"]).rpartition("#### ")
    answer = canonical_number(Decimal(number.strip().replace(",", "")))
    if answer is None:
        raise ValueError(number)
    question = str(row["question"])
    return Problem(question=question, reasoning=reasoning.strip(), answer=answer)


def canonical_number(value: Json | Decimal) -> str | None:
    """Return a number in its shortest decimal form; None for other values.

    `18`, `18.0`, `1.8e1` and the texts "18" and "1,800" are numbers, as only the side
    without a constraint can write a text; a Boolean is not one.
    """
    if isinstance(value, str):
        if not re.fullmatch(r"-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", value):
            return None
        value = Decimal(value.replace(",", ""))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not isinstance(value, int) and not isfinite(value):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
        shortest = number.normalize()
    except InvalidOperation:
        return None
    return format(Decimal(shortest), "f") if shortest else "0"


def _number(answer: str) -> Json:
    number = Decimal(answer)
    return int(number) if number == number.to_integral_value() else float(number)


_TABLES: Final[dict[str, dict[str, Any]]] = tomllib.loads(_text("tasks.toml"))


def _fields(name: str) -> dict[str, Any]:
    """Return the fields of a task that `tasks.toml` holds."""
    shots = [Problem(**shot) for shot in _TABLES[name]["shots"]]
    return {**_TABLES[name], "name": name, "shots": shots}


def with_prompts(task: QualityTask, file: str) -> QualityTask:
    """Return a task with the instruction and worked examples of a TOML file.

    Raises:
        NoInput: the file cannot be read.
        BadData: it lacks them.
    """
    with reading(Path(file)):
        text = read_utf8(Path(file))
    try:
        table = tomllib.loads(text)[task.name]
        shots = [Problem(**shot) for shot in table["shots"]]
        return replace(task, instruction=table["instruction"], shots=shots)
    except (ValueError, LookupError, TypeError) as error:
        then = "give each task its instruction and shots: question, reasoning, answer"
        raise BadData(f"no prompt of {task.name}: {error}", file, then) from error


_TASKS: Final = (
    QualityTask(
        **_fields("last-letter"),
        canonical=_four_letters,
        value=str,
        read=_read_letters,
        published=r'(?i:"answer":\s*"([a-z]{4})")',
        fold=str.lower,
    ),
    QualityTask(
        **_fields("shuffled-objects"),
        canonical=_option,
        value=str,
        read=_read_exchanges,
        published=r'"answer":\s*"([A-Ea-e])"',
        fold=str.upper,
    ),
    QualityTask(
        **_fields("gsm8k"),
        canonical=canonical_number,
        value=_number,
        read=_read_sums,
        published=r'"answer":\s*([1-9][0-9]{0,9})',
    ),
)
#: The three tasks, in the order of the paper's Table 7.
TASKS: Final[Mapping[str, QualityTask]] = {task.name: task for task in _TASKS}
