"""Print a run for `csbdata results show`: tables, or failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.system.terminal import height, say, say_command, with_more
from curation.system.terminal import show as print_line
from curation.system.words import command, counted
from evaluation.reporting.printing import (
    ReportFormat,
    named_tables,
    print_first,
    print_tables,
)
from evaluation.results.reader import gaps_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.asking.request import RunResult
    from evaluation.reporting.report import Report
    from evaluation.reporting.tables import Table
    from evaluation.results.reader import RecordedRun
    from evaluation.walking.plan import RunTotals


#: Lines of a list that people are shown; other formats have all.
SHOWN: Final = 20
#: Lines that people are shown of a run; other formats have every table.
_LINES: Final = 40
_MORE: Final = "In brackets 95 % intervals. One of these tables with notes, or --all"


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
    run: RecordedRun,
    tasks: list[str],
    options: TableOptions,
    format_: ReportFormat,
) -> None:
    """Print what a run measured, and its tables: a screen, those named, or all."""
    from evaluation.analysis.run_report import conditions_of, engines_of, reports
    from evaluation.results.description import describe

    task_reports = reports(run, tasks)
    every = [conditions_of(run), engines_of(run)]
    every += [table for report in task_reports.values() for table in report.tables]
    names = options.table or []
    if format_ is ReportFormat.AUTO:
        head = [*gaps_of(run), *describe(run.header), ""]
        if not names and not options.everything:
            here = with_more(here=("results", "show", run.folder))
            show_screen(here, head, task_reports, every)
            return
        for line in head:
            print_line(line)
    print_tables(
        named_tables(every, names), format_, _head(run), every=() if names else every
    )


def show_screen(
    command: str,
    head: Sequence[str],
    reports: Mapping[str, Report],
    every: Sequence[Table],
) -> None:
    """Print what stands on one screen of a run, and the names of its other tables.

    Args:
        command: What prints the run.
        head: The lines above the tables.
        reports: The report of each task.
        every: All tables, those of reports among them.
    """
    from evaluation.analysis.run_report import most_telling

    more = f"{command} --table NAME"
    for line in head:
        print_line(line)
    lines = _LINES - height([*head, _MORE, more, *_names(every)])
    printed = print_first(most_telling(reports), lines)
    others = [table for table in every if table not in printed]
    say_command(_MORE, more)
    for line in _names(others):
        say(line)


def _names(tables: Sequence[Table]) -> list[str]:
    """Return the names of tables, a line for each task and one for the run."""
    names: dict[str, list[str]] = {}
    for table in tables:
        names.setdefault(table.task, []).append(table.slug)
    return [
        ": ".join(filter(None, (task, ", ".join(own)))) for task, own in names.items()
    ]


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


def say_unfinished(totals: RunTotals, noun: str) -> None:
    """Say what servers must still be asked for, and how.

    Args:
        totals: The totals of the run.
        noun: What they were asked for.
    """
    if totals.stopped:
        say(
            f"{totals.stopped}: the same command with a higher one goes on",
            style="yellow",
        )
    if totals.unanswered:
        say(
            f"the server was in trouble, so that {counted(totals.unanswered, noun)} "
            "must be asked for again: the same command does it",
            style="yellow",
        )


def print_scored(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr the problems of responses."""
    from evaluation.analysis.run_report import reports
    from evaluation.results.description import partial_data
    from evaluation.results.suite_rows import SUITE
    from evaluation.results.suite_tables import reading

    run = result.open()
    by_task = reports(run)
    tables = [table for report in by_task.values() for table in report.tables]
    head = {"run": str(result.folder), "header": run.raw_header}
    if format_ is ReportFormat.AUTO:
        again = command("results", "show", result.folder)
        said = reading(run.raw_header[SUITE])
        show_screen(again, [said, *partial_data(run.header)], by_task, tables)
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
    under = passing_less(run, run.raw_header, fail_under)
    if under or not run.tasks:
        say(f"the gate fails: {'; '.join(under) or 'nothing was scored'}", style="red")
        raise typer.Exit(1)
