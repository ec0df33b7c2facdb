"""Coverage: does what a model writes under an engine satisfy its schema?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.task import RunRows, Settings, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.cases import Case, Sample
    from evaluation.reporting.report import Report


def _report(run: RunRows) -> Report:
    from evaluation.tasks.coverage.report import report  # noqa: PLC0415 - heavy

    return report(run)


def _cases(_samples: Iterable[Sample], _settings: Settings) -> Iterator[Case]:
    return iter(())


TASK = Task(
    name="coverage",
    summary="A model writes under each engine; the texts are validated (Table 4).",
    timed=True,
    needs_data=True,
    cases=_cases,
    report=_report,
    needs_model=True,
)
