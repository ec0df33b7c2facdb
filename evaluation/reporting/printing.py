"""Reports printed: for people, as Markdown, JSON or CSV."""

from __future__ import annotations

from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.errors import BadConfiguration
from curation.system.terminal import print_json, say_command, show, show_whole, stdout
from evaluation.reporting.table_rendering import (
    as_csv,
    as_json,
    as_markdown,
)
from evaluation.reporting.terminal_layout import for_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.reporting.tables import Table


class ReportFormat(StrEnum):
    """How a report is printed."""

    AUTO = "auto"
    """For people: coloured on a terminal, plain in a pipe."""
    JSON = "json"
    """One JSON object, for programs."""
    MARKDOWN = "markdown"
    """Tables for an issue or a pull request."""
    CSV = "csv"
    """The tables one after the other, each under its name, an empty line between."""


ReportFormatOption = Annotated[
    ReportFormat,
    typer.Option("--format", help="auto is for people; the figures are the same."),
]


def named_tables(tables: Sequence[Table], names: Sequence[str]) -> Sequence[Table]:
    """Return the tables of these names in their order, or all where none is named.

    Raises:
        BadConfiguration: there is no such table; the message names those there are.
    """
    by_name = {table.slug: table for table in tables}
    for name in names:
        if name not in by_name:
            raise BadConfiguration(
                f"the report has no table {name!r}",
                then=f"choose of {', '.join(by_name)}",
            )
    return [by_name[name] for name in names] or tables


def print_tables(
    tables: Sequence[Table],
    format_: ReportFormat,
    head: Mapping[str, UntypedJson],
    *,
    every: Sequence[Table] = (),
    more: str = "",
) -> None:
    """Print tables on stdout.

    Args:
        tables: What people get.
        format_: How they are printed.
        head: What JSON says beside them.
        every: What programs get, where that is more.
        more: The command that prints every table for people too.
    """
    if format_ in {ReportFormat.JSON, ReportFormat.CSV}:
        tables = every or tables
    if format_ is ReportFormat.JSON:
        print_json({**head, "tables": [as_json(table) for table in tables]})
    elif format_ is ReportFormat.MARKDOWN:
        show_whole("\n".join(as_markdown(table) for table in tables).rstrip("\n"))
    elif format_ is ReportFormat.CSV:
        # Line ends are CSV's own; a console would fold or colour them.
        parts = [f"{_csv_name(table)}\r\n{as_csv(table)}" for table in tables]
        typer.echo("\r\n".join(parts), nl=False)
    else:
        for table in tables:
            print_table(table)
        if more and len(every) > len(tables):
            say_command(f"{len(every) - len(tables):,} more tables", more)


def print_table(table: Table) -> None:
    """Print one table for people, with its note below."""
    console = stdout()
    # A command is longer than any terminal is wide: nothing of it is cut off.
    console.print(for_terminal(table), crop=False)
    if table.note:
        lines = wrap(table.note, console.width - 2, break_long_words=False)
        show("".join(f"  {line}\n" for line in lines), style="dim")


def _csv_name(table: Table) -> str:
    return f"{table.task}/{table.slug}" if table.task else table.slug
