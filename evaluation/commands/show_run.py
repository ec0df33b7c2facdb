"""Print a run for `csbdata results show`: tables, or failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.system.screens import print_screen
from curation.system.terminal import say, say_command, with_more
from curation.system.terminal import show as print_line
from curation.system.words import command, counted
from evaluation.reporting.printing import (
    ReportFormat,
    for_terminal,
    named_tables,
    print_tables,
)
from evaluation.results.reader import RecordedRun, gaps_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.asking.request import RunResult
    from evaluation.reporting.tables import Table
    from evaluation.walking.run import RunTotals


#: Lines of a list that people are shown; other formats have all.
SHOWN: Final = 20


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


def show_tables(
    run: RecordedRun, tasks: list[str], options: TableOptions, format_: ReportFormat
) -> None:
    """Print what a run measured, and its tables: a screen, those named, or all."""
    from evaluation.analysis.run_report import (
        all_tables,
        most_telling,
        reports,
    )
    from evaluation.results.description import describe

    task_reports = reports(run, tasks)
    people = format_ is ReportFormat.AUTO
    print_report(
        with_more(here=("results", "show", run.folder)),
        most_telling(task_reports),
        options,
        format_,
        _head(run),
        every=all_tables(task_reports),
        lines=[*gaps_of(run), *describe(run.header), ""] if people else (),
    )


def print_report(  # noqa: PLR0913 (what is printed, and how)
    command: str,
    tables: Sequence[Table],
    options: TableOptions,
    format_: ReportFormat,
    head: Mapping[str, UntypedJson],
    *,
    every: Sequence[Table],
    lines: Sequence[str] = (),
) -> None:
    """Print tables: for people one screen of them, those that are named, or all.

    Args:
        command: What prints them, to be pasted.
        tables: Those of which a screen is made, the most telling first.
        options: Which are wanted.
        format_: How they are printed.
        head: What JSON says beside them.
        every: All tables.
        lines: What people get above them.
    """
    names = options.table or ()
    if format_ is ReportFormat.AUTO and not names and not options.everything:
        show_screen(command, tables, every, lines)
        return
    for line in lines:
        print_line(line)
    named = [*every, *(table for table in tables if table not in every)]
    print_tables(named_tables(named, names) if names else every, format_, head)


def show_screen(
    command: str,
    tables: Sequence[Table],
    every: Sequence[Table],
    lines: Sequence[str] = (),
) -> None:
    """Print what stands on one screen, and the names of the other tables.

    Args:
        command: What prints them, to be pasted.
        tables: Those of which a screen is made, the most telling first.
        every: All tables.
        lines: What stands above them.
    """
    fitting = {table.path: for_terminal(table) for table in tables}
    names = [table.path for table in every]
    print_screen(command, fitting, names, lines, "In brackets 95 % intervals.")


def show_failures(
    run: RecordedRun, tasks: list[str], options: FailureOptions, format_: ReportFormat
) -> None:
    """Print the failures that are wanted, each with the command that shows it again."""
    from evaluation.analysis.failures import (
        failures,
        failures_table,
        shrinking_command,
    )
    from evaluation.results.suite_rows import is_suite_run

    worst = failures(run, tasks, options.engine or ())
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


def say_stopped(limit: str) -> None:
    """Say which limit of cost or requests ended a run, if one did, and what goes on."""
    if limit:
        say(f"{limit}: the same command with a higher one goes on", style="yellow")


def say_unfinished(totals: RunTotals, noun: str) -> None:
    """Say what servers must still be asked for, and how.

    Args:
        totals: The totals of the run.
        noun: What they were asked for.
    """
    say_stopped(totals.stopped)
    if totals.unanswered:
        say(
            f"the server was in trouble, so that {counted(totals.unanswered, noun)} "
            "must be asked for again: the same command does it",
            style="yellow",
        )


def print_scored(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr the problems of responses."""
    from evaluation.analysis.run_report import all_tables, most_telling, reports
    from evaluation.results.description import partial_data
    from evaluation.results.suite_rows import SUITE
    from evaluation.results.suite_tables import reading

    run = result.open()
    by_task = reports(run)
    tables = all_tables(by_task)
    head = {"run": str(result.folder), "header": run.raw_header}
    if format_ is ReportFormat.AUTO:
        again = command("results", "show", result.folder)
        said = reading(run.raw_header[SUITE])
        lines = [said, *partial_data(run.header)]
        show_screen(again, most_telling(by_task), tables, lines)
    else:
        print_tables(tables, format_, {**head, "problems": list(result.problems)})
    for problem in result.problems[:10]:
        say(problem, style="yellow")
    if len(result.problems) > 10:  # noqa: PLR2004 (the ones above)
        say(f"... and {len(result.problems) - 10:,} more", style="yellow")


def hold_gate(result: RunResult, fail_under: float | None) -> None:
    """Fail if a model passes less than so many per cent; None asks for none."""
    if fail_under is None:
        return
    from evaluation.results.suite_rows import passing_less

    run = result.open()
    under = passing_less(run, fail_under)
    if under or not run.tasks:
        say(f"the gate fails: {'; '.join(under) or 'nothing was scored'}", style="red")
        raise typer.Exit(1)
