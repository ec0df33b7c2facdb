"""`csbdata suite NAME report`: print the tables of finished runs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it off the signature
from typing import Annotated

import typer

from curation.system.terminal import show
from evaluation.commands.opened_run import RunsArgument, open_and_report_problems
from evaluation.commands.suite_options import (
    name_of_suite,
)
from evaluation.reporting.printing import (
    ReportFormat,
    ReportFormatOption,
    named_tables,
    print_tables,
)


def report_command(
    ctx: typer.Context,
    runs: RunsArgument,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the page there too.")
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Print only this table; repeatable."),
    ] = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Print the tables of a run again, or of several as one, or write their page.

    \b
    Examples:
      csbdata suite passrate report runs/4f1c22a09b3e --html report.html
      csbdata suite sob report runs/gpt runs/qwen --html leaderboard.html
      csbdata suite concodeeval report runs/4f1c22a09b3e --table table-5
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.analysis.run_report import joined_report, reports
    from evaluation.suites.registry import suite_named

    opened = [open_and_report_problems(run) for run in runs]
    suite = suite_named(name_of_suite(ctx))
    if len(opened) == 1:
        (found,) = reports(opened[0], [suite.name]).values()
    else:
        found = joined_report(opened, suite)
    head = {str(run.folder): run.raw_header for run in opened}
    print_tables(named_tables(found.tables, table or ()), format_, {"runs": head})
    if html is not None:
        from evaluation.analysis.page import write_joined_page, write_page

        written = (
            write_page(opened[0], html, [suite.name])
            if len(opened) == 1
            else write_joined_page(opened, f"Suite {suite.name}", found, html)
        )
        show(str(written))
