"""Print a run for `csbdata results show`: tables, or failures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.commands.options import path_argument
from curation.system.terminal import log, print_screen, say_command, show_first
from curation.system.terminal import show as print_line
from curation.system.words import command, counted
from evaluation.reporting.printing import (
    ReportFormat,
    for_terminal,
    named_tables,
    print_tables,
)
from evaluation.results.reader import RecordedRun, list_gaps, open_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.masks.run import RunTotals
    from evaluation.reporting.tables import Table
    from evaluation.runner.request import RunResult


#: A run of `csbdata eval` or of a suite.
RunArgument = Annotated[Path, path_argument("RUN", "The folder of a run.")]
#: The same of several.
RunsArgument = Annotated[
    list[Path],
    path_argument("RUN...", "Folders of runs."),
]
#: Lines of a list that people are shown; other formats have all.
SHOWN: Final = 20
_MAX_PROBLEMS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Tables."""

    everything: Annotated[
        bool, typer.Option("--all", help="Every table, not one screen.")
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


def open_and_report_problems(folder: Path) -> RecordedRun:
    """Open a run, and print which of its rows could not be read.

    Args:
        folder: Its folder.

    Raises:
        NoInput: the run is missing.
        BadData: its header cannot be read.
    """
    run = open_run(folder)
    problems = [f"left out, no row: {problem}" for problem in run.problems]
    show_first(problems, _MAX_PROBLEMS, "yellow", show=log)
    return run


def print_run(  # noqa: PLR0913 (options of printing)
    run: RecordedRun,
    command: str,
    format_: ReportFormat,
    *,
    tasks: Sequence[str] = (),
    options: TableOptions | None = None,
    lines: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> None:
    """Print the tables of a run; arguments as of `print_report`.

    Args:
        run: The run.
        command: What prints them, to be pasted.
        format_: How they are printed.
        tasks: The tasks that are shown; empty for all.
        options: Which tables are wanted.
        lines: What people get above them.
        problems: Responses that could not be read.
    """
    from evaluation.analysis.run_report import most_telling, tables_by_task

    by_task = tables_by_task(run, tasks)
    print_report(
        command,
        most_telling(by_task),
        options or TableOptions(),
        format_,
        {**make_head(run), "problems": [*run.problems, *problems]},
        every=[table for tables in by_task.values() for table in tables],
        lines=lines,
    )


def print_report(  # noqa: PLR0913 (options of printing)
    command: str,
    tables: Sequence[Table],
    options: TableOptions,
    format_: ReportFormat,
    head: Mapping[str, UntypedJson],
    *,
    every: Sequence[Table],
    lines: Sequence[str] = (),
) -> None:
    """Print tables: for people one screen of them, the named ones, or all.

    Args:
        command: What prints them, to be pasted.
        tables: Those of which a screen is made, the most telling first.
        options: Which are wanted.
        format_: How they are printed.
        head: Further members of the JSON.
        every: All tables.
        lines: What people get above them.
    """
    names = options.table or ()
    people = format_ is ReportFormat.AUTO
    if people and not names and not options.everything:
        fitting = {table.path: for_terminal(table) for table in tables}
        paths = [table.path for table in every]
        print_screen(command, fitting, paths, lines, "In brackets 95 % intervals.")
        return
    for line in lines if people else ():
        print_line(line)
    print_tables(named_tables(every, names) if names else every, format_, head)


def show_failures(
    run: RecordedRun, tasks: list[str], options: FailureOptions, format_: ReportFormat
) -> None:
    """Print the selected failures, each with the command that shows it again."""
    from evaluation.analysis.failures import (
        failures,
        failures_table,
        shrinking_command,
    )

    worst = failures(run, tasks, options.engine or ())
    table = failures_table(
        run,
        worst,
        SHOWN if format_ is ReportFormat.AUTO else None,
        control_apart=not options.engine,
    )
    print_tables([table], format_, make_head(run))
    if worst and format_ is ReportFormat.AUTO and not run.suite:
        command = shrinking_command(run, worst[0])
        say_command("The smallest part of the first that still fails", command)


def make_head(run: RecordedRun) -> dict[str, UntypedJson]:
    """Return the members of a run's JSON besides its tables."""
    return {
        "run": str(run.folder),
        "header": dict(run.raw_header),
        "problems": list(run.problems),
        "lacks": list_gaps(run),
    }


def say_unfinished(totals: RunTotals, noun: str) -> None:
    """Say what servers must still be asked for, and how.

    Args:
        totals: The totals of the run.
        noun: What they were asked for.
    """
    if totals.stopped:
        log(f"{totals.stopped}: rerun with a higher limit to resume", style="yellow")
    if totals.unanswered:
        missing = counted(totals.unanswered, noun)
        log(f"the server failed, {missing} missing: rerun to resume", style="yellow")


def print_scored(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr the problems of responses."""
    from evaluation.results.description import partial_data
    from evaluation.results.suite_tables import reading

    run = result.open()
    print_run(
        run,
        command("results", "show", result.folder),
        format_,
        lines=[reading(run.suite), *partial_data(run.header)],
        problems=result.problems,
    )
    show_first(result.problems, _MAX_PROBLEMS, "yellow", show=log)


def hold_gate(result: RunResult, fail_under: float | None) -> None:
    """Fail if a model passes less than a minimum in per cent; None skips this."""
    if fail_under is None:
        return
    from evaluation.results.suite_rows import passing_less

    run = result.open()
    under = passing_less(run, fail_under)
    if under or not run.tasks:
        log(f"the gate fails: {'; '.join(under) or 'nothing was scored'}", style="red")
        raise typer.Exit(1)
