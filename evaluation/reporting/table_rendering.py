"""Tables printed as Markdown, JSON and CSV: the same figures as on a terminal.

Names in tables come from strangers' schemas: control characters are made visible
(`curation.system.escaping`), and what Markdown would read as its own is escaped.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from curation.system.escaping import safe
from evaluation.reporting.tables import MissingFigure, json_of, text_of
from evaluation.reporting.terminal_layout import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json
    from evaluation.reporting.tables import Cell, Table

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
            _line([escape_markdown(text_of(cell)) for cell in row])
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
            {name: json_of(cell) for name, cell in zip(table.columns, row, strict=True)}
            for row in table.rows
        ],
        "note": table.note,
    }


def as_csv(table: Table) -> str:
    """Return the table as CSV (RFC 4180); a missing figure is an empty field.

    A cell of several figures takes a column for each: `passed count`, `passed of`.
    """
    spread = [_spread(table, index) for index in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        f"{column} {part}".strip()
        for column, parts in zip(table.columns, spread, strict=True)
        for part in parts
    )
    for row in table.rows:
        writer.writerow(
            field
            for cell, parts in zip(row, spread, strict=True)
            for field in _fields(cell, parts)
        )
    return out.getvalue()


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", safe(text))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spread(table: Table, index: int) -> tuple[str, ...]:
    """Return the names of a column's figures; one without a name if it is simple."""
    for row in table.rows:
        parts = json_of(row[index])
        if isinstance(parts, dict) and not isinstance(row[index], MissingFigure):
            return tuple(parts)
    return ("",)


def _fields(cell: Cell, parts: tuple[str, ...]) -> list[Json]:
    value = json_of(cell)
    if isinstance(cell, MissingFigure):
        return [None] * len(parts)
    if isinstance(value, dict):
        return [value.get(part) for part in parts]
    return [value, *[None] * (len(parts) - 1)]
