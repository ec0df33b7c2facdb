"""Task `masks`: walk every instance of every schema, and time what it costs.

Time to first mask is the compile call alone; time between masks is the computation
of one mask (the commit before it is counted beside it). Definitions follow MaskBench,
but the end is checked, a schema without instances never passes, and what an engine
does with a near miss is booked under the keyword that the near miss violates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.task import AcceptedSetting, RunRows, Task, TaskInput
from evaluation.tasks.masks import NAME
from evaluation.tasks.masks.member_orders import permuted_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.cases import Instance, Sample
    from evaluation.core.task_settings import TaskSettings
    from evaluation.reporting.report import Report


def cases(samples: Iterable[Sample], settings: TaskSettings) -> Iterator[Case]:
    """Yield one case a sample, with all its instances."""
    for sample in samples:
        walks = [_walk(instance) for instance in sample.instances]
        for instance in sample.instances:
            if instance.valid:
                walks += [
                    InstanceWalk(
                        text=text,
                        valid=True,
                        label={"kind": instance.kind, "apart": True, "order": number},
                    )
                    for number, text in permuted_texts(
                        instance.text, settings.orders, settings.seed
                    )
                ]
        yield Case(
            task=NAME,
            id=sample.id,
            config=sample.config,
            schema=sample.schema,
            walks=tuple(walks),
            label={
                "dialect": sample.dialect,
                "split": sample.split,
                "features": list(sample.features),
                "size": len(sample.schema),
            },
        )


def _walk(instance: Instance) -> InstanceWalk:
    label = {"kind": instance.kind}
    if instance.keyword:
        label["keyword"] = instance.keyword
        label["pointer"] = instance.schema_pointer
    return InstanceWalk(text=instance.text, valid=instance.valid, label=label)


def report(run: RunRows) -> Report:
    """Return the tables of this task's rows."""
    from evaluation.tasks.masks.report import report_of  # noqa: PLC0415 - polars is not light

    return report_of(run)


TASK: Final = Task(
    name=NAME,
    summary="Walk every instance through the masks: time, coverage, over- and under-"
    "constraint by keyword.",
    timed=True,
    input=TaskInput.INSTANCES,
    cases=cases,
    report=report,
    settings=(
        AcceptedSetting(
            name="orders", meaning="orders of each valid instance's members; --orders"
        ),
    ),
)
