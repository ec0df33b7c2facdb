"""Reports printed: for people, as Markdown, JSON or CSV."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.terminal import print_json, show, stdout
from evaluation.reporting.table_rendering import (
    as_csv,
    as_json,
    as_markdown,
    for_terminal,
)

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


def print_tables(
    tables: Sequence[Table], format_: ReportFormat, head: Mapping[str, UntypedJson]
) -> None:
    """Print tables on stdout; `head` is what JSON says beside them."""
    if format_ is ReportFormat.JSON:
        print_json({**head, "tables": [as_json(table) for table in tables]})
    elif format_ is ReportFormat.MARKDOWN:
        show("\n".join(as_markdown(table) for table in tables).rstrip("\n"))
    elif format_ is ReportFormat.CSV:
        # Line ends are CSV's own; a console would fold or colour them.
        parts = [f"{table.slug}\r\n{as_csv(table)}" for table in tables]
        typer.echo("\r\n".join(parts), nl=False)
    else:
        for table in tables:
            print_table(table)


def print_table(table: Table) -> None:
    """Print one table for people, with its note below."""
    stdout().print(for_terminal(table))
    if table.note:
        show(f"  {table.note}\n", style="dim")
