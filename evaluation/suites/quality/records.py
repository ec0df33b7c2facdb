"""Records: the problems of the paper's three tasks (Table 14), sampled or published.

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
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice, zip_longest
from math import isfinite
from pathlib import Path
from random import Random
from typing import Annotated, Final, Literal

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.user_files import read_utf8, reading
from evaluation.core.records import Record, RecordRequest, RecordSet
from evaluation.suites.common import SAMPLE, published_rows

#: The name of the published problems for `--data`.
PUBLISHED: Final = "published"
_SUFFIXES: Final = (".parquet", ".jsonl", ".json")
#: The two members of every answer.
REASONING, ANSWER = "reasoning", "answer"
#: The members in each order. As in the paper the answer can build on the reasoning;
#: after the answer, the reasoning can only justify it.
MEMBERS: Final = {
    "reasoning-first": (REASONING, ANSWER),
    "answer-first": (ANSWER, REASONING),
}
_FOLDER: Final = Path(__file__).parent


class QualitySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the suite; `--set NAME=VALUE` sets one."""

    #: The requested order of reasoning and answer; `both` asks every problem twice.
    orders: Literal["reasoning-first", "answer-first", "both"] = "both"
    #: How the answer is extracted from a text: `recommended`, the member `answer` of
    #: its JSON, or `paper`, by the regular expressions of the published comparison,
    #: which match no zero, negative number or decimal.
    reading: Literal["recommended", "paper"] = "recommended"
    #: Problems of each task without `--limit`; a maximum for the data.
    problems: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    #: A TOML file of other prompts, such as the published ones: as in `tasks.toml`, the
    #: `instruction` and the `shots` of each task.
    prompts: str = ""
    #: Revisions of the published datasets on the Hub, by task.
    revisions: dict[str, str] = {}


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem, solved."""

    question: str
    #: The steps to the answer, in a few sentences; empty if the authors publish none.
    reasoning: str
    #: The right answer in its canonical form (`QualityTask.canonical`).
    answer: str
    #: Shared by problems of the sample that are not independent; empty otherwise.
    story: str = ""
    #: The name of the task of a problem of the sample.
    task: str = ""


class QualityTask(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One task: a table of `tasks.toml`."""

    #: The system message; `{form}` represents the form of the answer.
    instruction: str
    #: Worked examples before the question, none of them a problem of the set.
    shots: tuple[Problem, ...]
    #: What its answers are, and their schema.
    form: Literal["letters", "option", "number"]
    answer_schema: dict[str, UntypedJson]
    #: Most characters of the reasoning.
    reasoning_length: int
    #: Tokens of an answer, the same free and constrained; from published free runs.
    budget: int
    published_budget: int
    #: The published code's expression for the answer in a text.
    expression: str
    #: The published problems on the Hub: `owner/name`, the start of the paths of the
    #: files that hold the test split, the columns of question and answer, and rows at
    #: the start that are not problems.
    repository: str
    files: str
    columns: tuple[str, str]
    skip: int = 0

    def canonical(self, value: Json | Decimal) -> str | None:
        """Return an answer in canonical form; None if it does not have the form.

        Letters are in lower case, an option is a capital, and a number is as short as
        possible: `18`, `18.0`, `1.8e1` and the texts "18" and "1,800" are numbers, as
        only the side without a constraint can write a text; a Boolean is not.
        """
        if self.form == "number":
            return _canonical_number(value)
        expression = "([A-Za-z]{4})"
        if self.form == "option":
            expression = r"\(?([A-Ea-e])\)?"
        match = re.fullmatch(expression, value) if isinstance(value, str) else None
        return self.in_case(match[1]) if match else None

    def in_case(self, text: str) -> str:
        """Return an answer in the case of its canonical form."""
        return text.lower() if self.form == "letters" else text.upper()

    def value(self, answer: str) -> Json:
        """Return the JSON value of a canonical answer."""
        value: Json = json.loads(answer) if self.form == "number" else answer
        return value

    def schema(self, order: str) -> str:
        """Return the schema of an answer, its members in this order, as JSON text."""
        members: dict[str, Json] = {
            REASONING: {"type": "string", "maxLength": self.reasoning_length},
            ANSWER: self.answer_schema,
        }
        schema: dict[str, Json] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: members[name] for name in MEMBERS[order]},
            "required": [*MEMBERS[order]],
            "additionalProperties": False,
        }
        return json.dumps(schema)

    def answer_text(self, problem: Problem, order: str) -> str:
        """Return the right answer to a problem as JSON text."""
        members: dict[str, Json] = {
            REASONING: problem.reasoning[: self.reasoning_length],
            ANSWER: self.value(problem.answer),
        }
        ordered = {name: members[name] for name in MEMBERS[order]}
        return json.dumps(ordered, ensure_ascii=False)

    def problem(self, row: Mapping[str, Json]) -> Problem:
        """Return the problem of a published row.

        Raises:
            KeyError, ValueError, ArithmeticError: it is not a row of the task.
        """
        question, answer = (str(row[column]) for column in self.columns)
        # Only GSM8K has the reasoning, before the mark.
        reasoning, _, text = answer.strip().rpartition("#### ")
        truth: str | None = text.lower()
        if self.form != "letters":
            is_number = self.form == "number"
            truth = self.canonical(
                Decimal(text.replace(",", "")) if is_number else text
            )
        if truth is None:
            raise ValueError(text)
        return Problem(question=question, reasoning=reasoning.strip(), answer=truth)


def _canonical_number(value: Json | Decimal) -> str | None:
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
    return format(shortest, "f") if shortest else "0"


#: The three tasks, in the order of the paper's Table 7.
TASKS: Final = msgspec.toml.decode(
    (_FOLDER / "tasks.toml").read_bytes(), type=dict[str, QualityTask]
)


def with_prompts(name: str, file: str) -> QualityTask:
    """Return a task with the instruction and worked examples of a TOML file.

    Raises:
        NoInput: the file cannot be read.
        BadData: it lacks them.
    """
    with reading(Path(file)):
        text = read_utf8(Path(file))
    try:
        table = msgspec.toml.decode(text)[name]
        prompts = {part: table[part] for part in ("instruction", "shots")}
        fields = {**msgspec.structs.asdict(TASKS[name]), **prompts}
        return msgspec.convert(fields, QualityTask)
    except (msgspec.MsgspecError, LookupError, TypeError) as error:
        then = "give each task its instruction and shots: question, reasoning, answer"
        raise BadData(f"no prompt of {name}: {error}", file, then) from error


def quality_records(request: RecordRequest, settings: QualitySettings) -> RecordSet:
    """Return the requested problems, tasks and orders in turn.

    Args:
        request: `data` is None for the sample, `published` for the problems on the Hub,
            or a folder that holds these, a file `TASK*` or a folder `TASK` each.
        settings: Which orders, and how many problems.

    Raises:
        BadUsage: an unknown group.
        NoInput: the data is missing.
        BadData: a published row that cannot be read.
        Unavailable: the Hub cannot be reached.
    """
    orders = [*MEMBERS] if settings.orders == "both" else [settings.orders]
    groups = {
        group_name(name, order): (name, order) for order in orders for name in TASKS
    }
    unknown = [name for name in request.configs if name not in groups]
    if unknown:
        message = f"--config {unknown[0]!r}: there are only {', '.join(groups)}"
        raise BadUsage(message)
    groups = {
        name: groups[name] for name in groups if name in (request.configs or groups)
    }
    count = settings.problems
    if request.limit is not None:
        count = -(-request.limit // len(groups))
    problems: dict[str, Mapping[str, Problem]] = {}
    origins: dict[str, None] = {}
    for name in dict.fromkeys(name for name, _ in groups.values()):
        origin, available = _problems(name, request.data, settings.revisions.get(name))
        origins[origin] = None
        places = list(range(len(available)))
        if len(available) > count and not request.first:
            draw = Random(f"{name} {request.seed}")  # noqa: S311 (no secret)
            places = sorted(draw.sample(places, count))
        problems[name] = {f"{index:04d}": available[index] for index in places[:count]}
    # The files of the published problems are their test splits.
    split = "test" if request.data else ""
    lists = [
        as_records(name, order, problems[name], split)
        for name, order in groups.values()
    ]
    in_turn = (record for turn in zip_longest(*lists) for record in turn if record)
    return RecordSet(
        name=request.data or "quality-sample",
        origin="; ".join(origins),
        records=[*islice(in_turn, request.limit)],
        generated=request.data is None,
    )


def as_records(
    name: str, order: str, problems: Mapping[str, Problem], split: str = ""
) -> Iterator[Record]:
    """Yield a task's problems, by their ids, as records that ask for one order.

    A problem has the same id in every order, so that orders can be paired.
    """
    schema = TASKS[name].schema(order)
    for id_, problem in problems.items():
        yield Record(
            id=id_,
            group=group_name(name, order),
            split=split,
            schema=schema,
            fields={
                "task": name,
                "order": order,
                "question": problem.question,
                "reasoning": problem.reasoning,
                "answer": problem.answer,
                # A published problem is by itself, in both orders.
                "cluster": f"{name} {problem.story or id_}",
            },
        )


def group_name(task: str, order: str) -> str:
    """Return the name of a task in one order; the paper's has the bare name."""
    return task if order == "reasoning-first" else f"{task} ({order})"


def sample(name: str) -> list[Problem]:
    """Return a task's problems of the sample; problems with one story are dependent."""
    lines = (_FOLDER / "sample.jsonl").read_bytes().splitlines()
    problems = [msgspec.json.decode(line, type=Problem) for line in lines]
    return [problem for problem in problems if problem.task == name]


def _problems(
    name: str, data: str | None, revision: str | None
) -> tuple[str, list[Problem]]:
    """Return the origin of a task's problems, and the problems."""
    task = TASKS[name]
    if data is None:
        return SAMPLE, sample(name)
    if data == PUBLISHED:
        from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

        patterns = [f"{task.files}*{suffix}" for suffix in _SUFFIXES]
        folder = hub_snapshot(task.repository, revision, patterns)
        origin = f"{task.repository}@{folder.name}"
        files = _files(folder, task.files)
    else:
        folder = Path(data)
        origin = f"folder {data}"
        alone = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
        files = (
            _files(folder / name, task.files)
            or _files(folder / name, "")
            or [path for path in alone if path.is_file()][:1]
        )
    if not files:
        expected = f"{task.files}*{_SUFFIXES[0]}, nor {name}{_SUFFIXES[0]}"
        raise NoInput(f"no file {expected}, .jsonl or .json", str(folder))
    problems: list[Problem] = []
    for where, row in (row for path in files for row in published_rows(path)):
        try:
            problems.append(task.problem(row))
        except (KeyError, ValueError, ArithmeticError) as error:
            message = f"no problem of {name} ({type(error).__name__}: {error})"
            raise BadData(message, where) from error
    return origin, problems[task.skip :]


def _files(folder: Path, start: str) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and path.is_file()
        and path.relative_to(folder).as_posix().startswith(start)
    )
