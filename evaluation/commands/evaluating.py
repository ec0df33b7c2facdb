"""What `csbdata eval` prints of a run, on stdout and on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.errors import Unavailable
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say
from evaluation.reporting.printing import ReportFormat

if TYPE_CHECKING:
    from evaluation.measurement.request import RunRequest, RunResult


def default_tasks(*, over_http: bool) -> list[str]:
    """Return the tasks of a command line without any, by what is installed."""
    from evaluation.models.store import INSTALL, missing_libraries
    from evaluation.tasks.registry import tasks

    measuring = [task for task in tasks().values() if task.needs_data]
    without = [task.name for task in measuring if not task.needs_model]
    writing = [task.name for task in measuring if task.needs_model]
    if over_http:
        return writing
    if not missing_libraries():
        return [*without, *writing]
    say(f"{' and '.join(writing)} have a model write; for them: {INSTALL}")
    return without


def execute(request: RunRequest, format_: ReportFormat) -> None:
    """Measure, and print what came of it.

    Raises:
        Unavailable: no engine could be run (exit 69).
    """
    from evaluation.measurement.run import run

    result = run(request, Quiet() if format_ is ReportFormat.JSON else Shown())
    _print(result, format_)
    if result.none_usable:
        raise Unavailable("no engine of this run can be used here")


def _print(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr what was done and what comes next."""
    from evaluation.analysis.run_report import reports
    from evaluation.reporting.printing import print_tables

    folder, totals = result.folder, result.totals
    run = result.open()
    tables = [table for report in reports(run).values() for table in report.tables]
    print_tables(tables, format_, {"run": str(folder), "header": run.raw_header})
    for label, why in totals.unavailable.items():
        line = run.header.participant(label).install
        say(f"{label} was not run: {why}{f'; {line}' if line else ''}", style="yellow")
    done = f"{totals.ran + totals.found:,} units: {totals.ran:,} run now"
    if totals.found:
        done += f", {totals.found:,} found in the folder"
    if totals.disturbed:
        done += f"; the machine was not quiet during {totals.disturbed:,}"
    say(f"{done}. {folder}")
    if totals.reproducers:
        say(f"{len(totals.reproducers):,} can be seen again: {folder}/reproducers")
    say(f"Next: csbdata results show {folder} --failures")
