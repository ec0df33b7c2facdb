"""Task `efficiency`: times of the texts of suite coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Task, TaskInput

if TYPE_CHECKING:
    from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.efficiency import report  # noqa: PLC0415 - heavy

    return report(scored_run(run, "coverage"), run.header)


TASK = Task(
    name="efficiency",
    summary="The times of the same texts: GCT, TTFT, TPOT, TGT (Tables 2 and 12).",
    timed=True,
    input=TaskInput.MODEL,
    report=_report,
    reads="coverage",
)
