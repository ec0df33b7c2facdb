"""Records: the problems of three tasks, bundled or the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from typing import Annotated, Final, Literal

import msgspec

from curation.system.errors import BadData, BadUsage, NoInput
from evaluation.core.records import Record, RecordRequest, RecordSet
from evaluation.suites.common import SAMPLE, published_rows
from evaluation.suites.quality.tasks import (
    ANSWER,
    REASONING,
    TASKS,
    Problem,
    QualityTask,
)

#: The name of the published problems for `--data`.
PUBLISHED: Final = "published"
_SUFFIXES: Final = (".parquet", ".jsonl", ".json")


class Orders(StrEnum):
    """The requested order of the two members of an answer."""

    REASONING_FIRST = "reasoning-first"
    """As in the paper: the answer can build on the reasoning."""
    ANSWER_FIRST = "answer-first"
    """The reasoning can only justify the answer."""
    BOTH = "both"
    """Every problem is asked twice."""


#: Members of an answer, by the name of their order.
MEMBERS: Final = {
    Orders.REASONING_FIRST: (REASONING, ANSWER),
    Orders.ANSWER_FIRST: (ANSWER, REASONING),
}


class QualitySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the suite; `--set NAME=VALUE` sets one."""

    #: The requested orders of reasoning and answer.
    orders: Orders = Orders.BOTH
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
    groups = _groups(request.configs, settings)
    count = settings.problems
    if request.limit is not None:
        count = -(-request.limit // len(groups))
    problems: dict[str, Mapping[str, Problem]] = {}
    origins: dict[str, None] = {}
    for name in dict.fromkeys(name for name, _ in groups):
        origin, problems[name] = _problems(TASKS[name], request, settings, count)
        origins[origin] = None
    return RecordSet(
        name=request.data or "quality-sample",
        origin="; ".join(origins),
        # The files of the published problems are their test splits.
        records=[
            msgspec.structs.replace(record, split="test" if request.data else "")
            for record in islice(_in_turns(groups, problems), request.limit)
        ],
        generated=request.data is None,
    )


def _in_turns(
    groups: Sequence[tuple[str, Orders]], problems: Mapping[str, Mapping[str, Problem]]
) -> Iterator[Record]:
    """Yield the first record of every group, then the second, and so on."""
    lists = [as_records(TASKS[name], order, problems[name]) for name, order in groups]
    for turn in zip_longest(*lists):
        yield from (record for record in turn if record is not None)


def as_records(
    task: QualityTask, order: Orders, problems: Mapping[str, Problem]
) -> Iterator[Record]:
    """Yield a task's problems, by their ids, as records that ask for one order.

    A problem has the same id in every order, so that orders can be paired.
    """
    schema = task.schema(MEMBERS[order])
    for name, problem in problems.items():
        yield Record(
            id=name,
            group=group_name(task.name, order),
            schema=schema,
            fields={
                "task": task.name,
                "order": order.value,
                "question": problem.question,
                "reasoning": problem.reasoning,
                "answer": problem.answer,
                # A published problem is by itself, in both orders.
                "cluster": f"{task.name} {problem.story or name}",
            },
        )


def group_name(task: str, order: Orders) -> str:
    """Return the name of a task in one order; the paper's has the bare name."""
    return task if order is Orders.REASONING_FIRST else f"{task} ({order.value})"


def problem_of_record(record: Record) -> tuple[QualityTask, Orders, Problem]:
    """Return the task, the order and the problem of a record."""
    fields = record.fields
    problem = Problem(
        question=str(fields["question"]),
        reasoning=str(fields["reasoning"]),
        answer=str(fields["answer"]),
    )
    return TASKS[str(fields["task"])], Orders(str(fields["order"])), problem


def _groups(
    configs: Sequence[str], settings: QualitySettings
) -> list[tuple[str, Orders]]:
    orders = tuple(MEMBERS) if settings.orders is Orders.BOTH else (settings.orders,)
    groups = {
        group_name(name, order): (name, order) for order in orders for name in TASKS
    }
    unknown = [name for name in configs if name not in groups]
    if unknown:
        message = f"--config {unknown[0]!r}: there are only {', '.join(groups)}"
        raise BadUsage(message)
    return [group for name, group in groups.items() if name in (configs or groups)]


def _problems(
    task: QualityTask, request: RecordRequest, settings: QualitySettings, count: int
) -> tuple[str, Mapping[str, Problem]]:
    if request.data is None:
        origin = SAMPLE
        problems = task.sample()
    elif request.data == PUBLISHED:
        revision = settings.revisions.get(task.name)
        origin, problems = hub_problems(task, revision)
    else:
        origin = f"folder {request.data}"
        problems = problems_in_folder(task, Path(request.data) / task.name)
    places: Sequence[int] = range(len(problems))
    if len(problems) > count and not request.first:
        draw = Random(f"{task.name} {request.seed}")  # noqa: S311 (no secret)
        places = sorted(draw.sample(places, count))
    return origin, {f"{index:04d}": problems[index] for index in places[:count]}


def hub_problems(task: QualityTask, revision: str | None) -> tuple[str, list[Problem]]:
    """Return the origin of a task's published problems, and the problems.

    Args:
        task: Names the dataset.
        revision: A branch, tag or commit; None for the newest.

    Raises:
        NoInput: the Hub has no such dataset, revision or files.
        BadData: a row cannot be read.
        Unavailable: the Hub cannot be reached, and its cache has no copy.
    """
    from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy

    patterns = [f"{task.files}*{suffix}" for suffix in _SUFFIXES]
    folder = hub_snapshot(task.repository, revision, patterns)
    problems = _read(task, _files(folder, task.files))
    return f"{task.repository}@{folder.name}", problems


def problems_in_folder(task: QualityTask, location: Path) -> list[Problem]:
    """Return a task's published problems in a folder, or in the file of this name.

    Raises:
        NoInput: there is neither.
        BadData: a row cannot be read.
    """
    if location.is_dir():
        return _read(task, _files(location, task.files) or _files(location, ""))
    paths = [location.with_name(f"{location.name}{suffix}") for suffix in _SUFFIXES]
    existing = [path for path in paths if path.is_file()]
    if not existing:
        names = ", ".join(f"{location.name}{suffix}" for suffix in _SUFFIXES)
        message = (
            f"--data {location.parent}: there is no folder {location.name}, nor {names}"
        )
        raise NoInput(message)
    return _read(task, existing[:1])


def _files(folder: Path, start: str) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
        and path.is_file()
        and path.relative_to(folder).as_posix().startswith(start)
    )


def _read(task: QualityTask, files: Sequence[Path]) -> list[Problem]:
    if not files:
        message = f"{task.repository}: no file {task.files}*.parquet or .json"
        raise NoInput(message)
    problems: list[Problem] = []
    for path in files:
        for where, row in published_rows(path):
            try:
                problems.append(task.read(row))
            except (KeyError, ValueError, ArithmeticError) as error:
                message = f"no problem of {task.name} ({type(error).__name__}: {error})"
                raise BadData(message, where) from error
    return problems[task.skip :]
