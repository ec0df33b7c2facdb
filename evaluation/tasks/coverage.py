"""Task `coverage`: a model writes under each engine; its texts are validated.

The suite of the same name writes and judges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Task, TaskInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.reporting.tables import Table


def _tables(run: RunRows) -> Iterator[Table]:
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 - heavy
    from evaluation.results.suite_tables import tables_of_all  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.report import tables  # noqa: PLC0415 - heavy
    from evaluation.suites.coverage.suite import SUITE  # noqa: PLC0415 - heavy

    texts = scored_run(run, "coverage")
    yield from tables(texts)
    yield from tables_of_all(texts, SUITE.classes)


TASK = Task(
    name="coverage",
    summary="A model writes under each engine; the texts are validated (the "
    "paper's Table 4).",
    timed=True,
    input=TaskInput.MODEL,
    tables=_tables,
)
