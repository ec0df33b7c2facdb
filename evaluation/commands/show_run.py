"""Print a run for `csbdata results show`: tables, or failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.system.terminal import say, say_command, with_more
from curation.system.terminal import show as print_line
from evaluation.reporting.printing import ReportFormat, named_tables, print_tables
from evaluation.results.reader import gaps_of

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from evaluation.results.reader import RecordedRun


#: Lines of a list that people are shown; other formats have all.
SHOWN: Final = 20
#: Tables that people are shown, of all tasks together; other formats have all.
_TABLES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Tables."""

    everything: Annotated[
        bool, typer.Option("--all", help="Every table, not the first twelve.")
    ] = False
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this table; repeatable."),
    ] = None


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
    run: RecordedRun,
    tasks: list[str],
    options: TableOptions,
    format_: ReportFormat,
) -> None:
    """Print what a run measured, and its tables: the first, those named, or all."""
    from evaluation.analysis.run_report import conditions_of, engines_of, reports
    from evaluation.results.description import describe

    task_reports = reports(run, tasks)
    every = [conditions_of(run), engines_of(run)]
    every += [table for report in task_reports.values() for table in report.tables]
    most = max(1, _TABLES // max(1, len(task_reports)))
    first = [table for one in task_reports.values() for table in one.tables[:most]]
    names = options.table or []
    wanted = named_tables(every, names) if names or options.everything else first
    if format_ is ReportFormat.AUTO:
        for line in [*gaps_of(run), *describe(run.header)]:
            print_line(line)
        print_line("")
    print_tables(
        wanted,
        format_,
        _head(run),
        every=() if names else every,
        more=with_more("--all", here=("results", "show", run.folder)),
    )
    if wanted is first and format_ is ReportFormat.AUTO:
        others = [table.path for table in every if table not in first]
        say(f"Each by --table NAME: {', '.join(others)}")


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
        "lacks": gaps_of(run),
    }
