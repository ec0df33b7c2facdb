"""Task `coverage`: validity of the texts of suite coverage."""

from __future__ import annotations

from evaluation.core.task import RunRows, Task, TaskInput
from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_tables import tables_of_all  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.report import report  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.suite import SUITE  # noqa: PLC0415 - heavy

    texts = scored_run(run, "coverage")
    own = report(texts).tables
    others = [table for table in tables_of_all(texts, SUITE.classes) if table.rows]
    return Report(tables=(*own, *others))


TASK = Task(
    name="coverage",
    summary="A model writes under each engine; the texts are validated (Table 4).",
    timed=True,
    judges_texts=True,
    input=TaskInput.MODEL,
    report=_report,
)
