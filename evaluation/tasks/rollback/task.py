"""Task `rollback`: go back and branch off in every valid text, and find the same masks.

Speculative decoding rolls back what a draft got wrong, beam search branches off. An
engine that offers either is held to its own masks: those of a straight walk through the
same text. A text that it blocks is left to task `masks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Case, InstanceWalk, Result, WalkVerdict
from evaluation.core.task import Task, TaskInput
from evaluation.tasks.rollback import NAME
from evaluation.tasks.rollback.report import report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.cases import Row, Sample
    from evaluation.core.task_settings import TaskSettings

#: What is asked of every text; names of the matcher's methods.
_CHECKS: Final = ("rollback", "fork")


def cases(samples: Iterable[Sample], _settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a sample that has a valid instance; each is walked twice."""
    for sample in samples:
        walks = tuple(
            InstanceWalk(
                text=instance.text,
                valid=True,
                check=check,
                label={"kind": instance.kind, "check": check},
            )
            for check in _CHECKS
            for instance in sample.instances
            if instance.valid
        )
        if walks:
            yield Case(
                task=NAME,
                id=sample.id,
                config=sample.config,
                schema=sample.schema,
                walks=walks,
                label={"dialect": sample.dialect},
            )


def passes(row: Row) -> bool:
    """Return whether no text shows a state that is not the one of before."""
    wrong = {WalkVerdict.LIED, WalkVerdict.CONTRADICTED, WalkVerdict.ENGINE_ERROR}
    return row.result is Result.OK and not any(
        walk.verdict in wrong for walk in row.walks
    )


TASK: Final = Task(
    name=NAME,
    summary="Roll back and fork in every valid text: masks must be those of before.",
    timed=False,
    by_default=False,
    input=TaskInput.INSTANCES,
    cases=cases,
    report=report,
    passes=passes,
)
