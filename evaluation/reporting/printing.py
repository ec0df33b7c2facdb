"""Print report tables: for people, as Markdown, JSON or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import Annotated, Final

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from curation.core.json_types import Json, UntypedJson
from curation.system.errors import BadUsage
from curation.system.terminal import print_json, show, show_whole, stdout, table
from curation.system.words import plain, safe, spreadsheet_text
from evaluation.reporting.tables import Cell, MissingFigure, Table, to_json, to_text

#: Words longer than this part of a screen may be broken.
_LONG: Final = 4
#: What a name without a preset means.
DEFAULT_PRESET: Final = " faithful"


def for_terminal(report: Table) -> RenderableType:
    """Return a report's table as rich prints it on a terminal or into a pipe.

    Commands have a line each below the table, to be copied.
    """
    heading = plain(report.heading, "italic")
    if not report.rows:
        return Group(heading, Text())
    lines = [[to_text(cell) for cell in row] for row in report.rows]
    columns = [*zip(report.columns, *lines, strict=True)]
    commands = [
        Text(f"  {safe(command)}", overflow="ignore")
        for line in lines
        for name, command in zip(report.columns, line, strict=True)
        if name in report.commands and command
    ]
    figures = numbers(report)
    printed = [
        (column, index in figures)
        for index, column in enumerate(columns)
        if column[0] not in report.commands
    ]
    return Group(heading, *_fitted(printed), *commands)


def _fitted(columns: Sequence[tuple[Sequence[str], bool]]) -> list[RenderableType]:
    """Return a table; figures whose words do not fit are turned, or in parts.

    Args:
        columns: The name and the cells of each, and whether they are figures.
    """
    right = [index for index, (_, is_figure) in enumerate(columns) if is_figure]
    head, *rows = zip(*(cells for cells, _ in columns), strict=True)
    full = table(head, rows, numbers=right)
    text = " ".join(safe(cell) for cells, _ in columns for cell in cells)
    words = {word for word in text.split() if len(word) <= stdout().width // _LONG}
    if len(columns) > 2 * len(right) or _has_words(full, words):
        return [full]
    header, *lines = (cells for cells, _ in columns)
    turned = table(header, lines, numbers=range(1, len(header)))
    if _has_words(turned, words) or len(right) == 1:
        return [turned]
    names = columns[: right[0]]
    figures = columns[right[0] :]
    half = (len(figures) + 1) // 2
    parts = figures[:half], figures[half:]
    return [fitted for part in parts for fitted in _fitted([*names, *part])]


def _has_words(part: RenderableType, words: set[str]) -> bool:
    """Return whether a screen breaks none of the words."""
    lines = stdout().render_lines(part)
    text = " ".join(cell.text for line in lines for cell in line)
    return words <= {*text.split()}


def numbers(report: Table) -> set[int]:
    """Return the columns that hold figures: they align right."""
    return {
        index
        for index in range(len(report.columns))
        if any(
            not isinstance(row[index], str | MissingFigure | None)
            for row in report.rows
        )
        and not any(isinstance(row[index], str) for row in report.rows)
    }


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def as_markdown(table: Table) -> str:
    """Return a GitHub-flavoured Markdown table under its title, note below."""
    right = numbers(table)
    rule = ["---:" if index in right else "---" for index in range(len(table.columns))]
    lines = [
        f"**{escape_markdown(table.heading)}**",
        "",
        _line([escape_markdown(column) for column in table.columns]),
        _line(rule),
        *(
            _line([escape_markdown(to_text(cell)) for cell in row])
            for row in table.rows
        ),
    ]
    if table.note:
        lines += ["", escape_markdown(table.note)]
    return "\n".join(lines) + "\n"


def as_json(table: Table) -> Json:
    """Return the table for programs: each row an object by column."""
    return {
        "name": table.slug,
        "task": table.task or None,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [
            {name: to_json(cell) for name, cell in zip(table.columns, row, strict=True)}
            for row in table.rows
        ],
        "note": table.note,
    }


def as_csv(table: Table) -> str:
    """Return the table as CSV (RFC 4180); a missing figure is an empty field.

    A cell of several figures takes a column for each: `passed count`, `passed of`.
    """
    rows = [
        [_fields(*named) for named in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    names = [
        name
        for column, *cells in zip(table.columns, *rows, strict=True)
        for name in dict.fromkeys(chain.from_iterable(cells)) or (column,)
    ]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(spreadsheet_text, names))
    for row in rows:
        fields = dict(ChainMap(*row))
        writer.writerow(fields.get(name) for name in names)
    return out.getvalue()


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", safe(text))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fields(column: str, cell: Cell) -> dict[str, Json]:
    """Return the fields of a cell, by the names of their columns."""
    value = to_json(cell)
    if value is None or isinstance(cell, MissingFigure):
        return {}
    if isinstance(value, dict):
        return {f"{column} {part}": figure for part, figure in value.items()}
    return {column: spreadsheet_text(value) if isinstance(value, str) else value}


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
    """Return the tables of these names in their order.

    Raises:
        BadUsage: unknown table; the message names those there are.
    """
    for name in names:
        if not any(name in {table.slug, table.path} for table in tables):
            raise BadUsage(
                f"the report has no table {name!r}",
                hint=f"use one of {', '.join(table.path for table in tables)}",
            )
    return [
        table for name in names for table in tables if name in {table.slug, table.path}
    ]


def print_tables(
    tables: Sequence[Table], format_: ReportFormat, head: Mapping[str, UntypedJson]
) -> None:
    """Print tables on stdout.

    Args:
        tables: The tables.
        format_: How they are printed.
        head: Further members of the JSON.
    """
    if format_ is ReportFormat.JSON:
        print_json({**head, "tables": [as_json(table) for table in tables]})
    elif format_ is ReportFormat.MARKDOWN:
        show_whole("\n".join(as_markdown(table) for table in tables).rstrip("\n"))
    elif format_ is ReportFormat.CSV:
        # Line ends are CSV's own; a console would fold or colour them.
        parts = [f"{table.path}\r\n{as_csv(table)}" for table in tables]
        typer.echo("\r\n".join(parts), nl=False)
    else:
        for table in tables:
            print_table(table)


def print_table(table: Table) -> None:
    """Print one table for people, with its note below."""
    console = stdout()
    # A command is longer than any terminal is wide: nothing of it is cut off.
    console.print(for_terminal(table), crop=False)
    if table.note:
        show(f"{table.note}\n", style="dim")
