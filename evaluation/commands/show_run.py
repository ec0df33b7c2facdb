"""Print a run for `csbdata results show`: tables, or failures."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.system.terminal import say_command
from curation.system.terminal import show as print_line
from evaluation.reporting.printing import ReportFormat, print_tables

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun


#: Lines of a list that people are shown; other formats have all.
SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureOptions:
    """Failures."""

    failures: Annotated[
        bool, typer.Option("--failures", help="List the worst failures instead.")
    ] = False
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Failures of this engine alone, by name or label; repeatable. The "
            "control, none, is left out unless it is named.",
        ),
    ] = None

    @property
    def requested(self) -> bool:
        """Whether failures are shown: asked for, or chosen among."""
        return self.failures or bool(self.engine)


def show_tables(
    run: RecordedRun, tasks: list[str], format_: ReportFormat, *, everything: bool
) -> None:
    """Print what a run measured, and its tables: one a task, or every one."""
    from evaluation.analysis.run_report import conditions_of, engines_of, reports
    from evaluation.results.description import describe
    from evaluation.results.reader import gaps_of

    task_reports = reports(run, tasks)
    every = [conditions_of(run), engines_of(run)]
    every += [table for report in task_reports.values() for table in report.tables]
    headlines = [report.tables[0] for report in task_reports.values() if report.tables]
    if format_ is ReportFormat.AUTO:
        for line in [*gaps_of(run), *describe(run.header)]:
            print_line(line)
        print_line("")
    print_tables(
        every if everything else headlines,
        format_,
        _head(run),
        every=every,
        more=f"csbdata results show {shlex.quote(str(run.folder))} --all",
    )


def show_failures(
    run: RecordedRun, tasks: list[str], options: FailureOptions, format_: ReportFormat
) -> None:
    """Print the failures that are wanted, each with the command that shows it again."""
    from evaluation.analysis.failures import (
        FailureChoice,
        failures,
        failures_table,
        shrinking_command,
    )
    from evaluation.results.suite_rows import is_suite_run

    choice = FailureChoice.parse(run, tasks=tasks, engines=options.engine or ())
    worst = failures(run, choice)
    table = failures_table(
        run,
        worst,
        SHOWN if format_ is ReportFormat.AUTO else None,
        control_apart=not options.engine,
    )
    print_tables([table], format_, _head(run))
    if worst and format_ is ReportFormat.AUTO and not is_suite_run(run.raw_header):
        command = shrinking_command(run, worst[0])
        say_command("The smallest part of the first that still fails", command)


def _head(run: RecordedRun) -> dict[str, UntypedJson]:
    return {
        "run": str(run.folder),
        "header": dict(run.raw_header),
        "problems": list(run.problems),
    }
