"""Efficiency: what a constraint costs while a model writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Task, TaskInput

if TYPE_CHECKING:
    from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.tasks.efficiency.report import report  # noqa: PLC0415 - heavy

    return report(run)


TASK = Task(
    name="efficiency",
    summary="The times of the same texts: GCT, TTFT, TPOT, TGT (Tables 2 and 12).",
    timed=True,
    input=TaskInput.MODEL,
    report=_report,
    reads="coverage",
)
