"""Problems as records: generated here, or as published on the Hub."""

from __future__ import annotations

from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration
from evaluation.core.suite import RecordSet
from evaluation.core.suite_records import SuiteRecord
from evaluation.suites.quality.problems import ANSWER, REASONING, Problem
from evaluation.suites.quality.published import hub_problems, problems_in_folder
from evaluation.suites.quality.settings import Orders
from evaluation.suites.quality.tasks.registry import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import RecordRequest
    from evaluation.suites.quality.problems import QualityTask
    from evaluation.suites.quality.settings import QualitySettings

#: What `--data` calls the published problems.
PUBLISHED: Final = "published"
#: Members of an answer, by the name of their order.
MEMBERS: Final = {
    Orders.REASONING_FIRST: (REASONING, ANSWER),
    Orders.ANSWER_FIRST: (ANSWER, REASONING),
}


def quality_records(request: RecordRequest, settings: QualitySettings) -> RecordSet:
    """Return the problems that are wanted, tasks and orders in turn.

    Args:
        request: `data` is None for problems of our own, `published` for those on the
            Hub, or a folder that holds these, a file `TASK*` or a folder `TASK` each.
        settings: Which orders, and how many problems.

    Raises:
        BadConfiguration: a group or a task that there is not.
        NoInput: there are no such data.
        BadData: a published row that cannot be read.
        Unavailable: the Hub cannot be reached.
    """
    groups = _groups(request.configs, settings)
    count = settings.problems
    if request.limit is not None:
        count = -(-request.limit // len(groups))
    problems: dict[str, list[Problem]] = {}
    origins: dict[str, None] = {}
    for name in dict.fromkeys(name for name, _ in groups):
        origin, problems[name] = _problems(TASKS[name], request, settings, count)
        origins[origin] = None
    return RecordSet(
        name=request.data or "problems of our own",
        origin="; ".join(origins),
        records=list(islice(_in_turns(groups, problems), request.limit)),
    )


def own_records(
    count: int, seed: int, settings: QualitySettings
) -> Iterator[SuiteRecord]:
    """Return so many records of our own, tasks and orders in turn."""
    groups = _groups((), settings)
    problems = {
        name: list(TASKS[name].generate(-(-count // len(groups)), seed))
        for name, _ in groups
    }
    return islice(_in_turns(groups, problems), count)


def _in_turns(
    groups: Sequence[tuple[str, Orders]], problems: Mapping[str, Sequence[Problem]]
) -> Iterator[SuiteRecord]:
    """Yield the first record of every group, then the second, and so on."""
    lists = [as_records(TASKS[name], order, problems[name]) for name, order in groups]
    for turn in zip_longest(*lists):
        yield from (record for record in turn if record is not None)


def as_records(
    task: QualityTask, order: Orders, problems: Iterable[Problem]
) -> Iterator[SuiteRecord]:
    """Yield a task's problems as records that ask for one order of members.

    A problem has the same id in every order, so that orders can be paired.
    """
    schema = task.schema(MEMBERS[order])
    for number, problem in enumerate(problems):
        yield SuiteRecord(
            id=f"{number:04d}",
            group=group_name(task.name, order),
            schema=schema,
            fields={
                "task": task.name,
                "order": order.value,
                "question": problem.question,
                "reasoning": problem.reasoning,
                "answer": problem.answer,
            },
        )


def group_name(task: str, order: Orders) -> str:
    """Return what tables call a task in one order; the paper's has the bare name."""
    return task if order is Orders.REASONING_FIRST else f"{task} ({order.value})"


def problem_of_record(record: SuiteRecord) -> tuple[QualityTask, Orders, Problem]:
    """Return what a record was made of."""
    fields = record.fields
    problem = Problem(
        question=str(fields["question"]),
        reasoning=str(fields["reasoning"]),
        answer=str(fields["answer"]),
    )
    return TASKS[str(fields["task"])], Orders(str(fields["order"])), problem


def _groups(
    wanted: Sequence[str], settings: QualitySettings
) -> list[tuple[str, Orders]]:
    orders = tuple(MEMBERS) if settings.orders is Orders.BOTH else (settings.orders,)
    unknown = [name for name in wanted if name not in TASKS]
    if unknown:
        message = f"--config {unknown[0]!r}: there are only {', '.join(TASKS)}"
        raise BadConfiguration(message)
    return [
        (name, order) for order in orders for name in TASKS if name in (wanted or TASKS)
    ]


def _problems(
    task: QualityTask, request: RecordRequest, settings: QualitySettings, count: int
) -> tuple[str, list[Problem]]:
    """Return where a task's problems are from, and so many of them."""
    if request.data is None:
        origin = f"generated by csbdata, seed {request.seed}"
        return origin, list(task.generate(count, request.seed))
    if request.data == PUBLISHED:
        revision = settings.revisions.get(task.name)
        origin, problems = hub_problems(task, revision)
    else:
        origin = f"folder {request.data}"
        problems = problems_in_folder(task, Path(request.data) / task.name)
    if len(problems) > count and not request.first:
        draw = Random(f"{task.name} {request.seed}")  # noqa: S311 (no secret)
        drawn = sorted(draw.sample(range(len(problems)), count))
        problems = [problems[place] for place in drawn]
    return origin, problems[:count]
