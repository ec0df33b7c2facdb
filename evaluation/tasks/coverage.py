"""Task `coverage`: validity of the texts of suite coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Task, TaskInput

if TYPE_CHECKING:
    from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.report import report  # noqa: PLC0415 - heavy

    return report(scored_run(run, "coverage", {}))


TASK = Task(
    name="coverage",
    summary="A model writes under each engine; the texts are validated (Table 4).",
    timed=True,
    judges_texts=True,
    input=TaskInput.MODEL,
    report=_report,
)
