"""Open loop: requests arrive at a server at their own times, and are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Task, TaskInput
from evaluation.open_loop.settings import TASK as NAME

if TYPE_CHECKING:
    from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.tasks.open_loop.report import report  # noqa: PLC0415 - heavy

    return report(run)


TASK = Task(
    name=NAME,
    summary="A server under load (--rate): latencies, goodput, and texts validated.",
    timed=True,
    by_default=False,
    input=TaskInput.SERVER,
    report=_report,
)
