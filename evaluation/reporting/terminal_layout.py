"""A report's tables, as the terminal prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from curation.system.escaping import safe
from curation.system.tables import plain, table
from evaluation.reporting.tables import MissingFigure, text_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from evaluation.reporting.tables import Cell, Table


def for_terminal(report: Table) -> RenderableType:
    """Return a report's table as rich prints it on a terminal or into a pipe."""
    if not report.rows:
        return Group(plain(report.heading, "italic"), Text())
    return table(
        report.columns,
        ([safe(text_of(cell)) for cell in row] for row in report.rows),
        title=report.heading,
        numbers=numbers(report),
        commands=map(report.columns.index, report.commands),
    )


def numbers(report: Table) -> set[int]:
    """Return the columns that hold figures: they align right."""
    return {
        index
        for index in range(len(report.columns))
        if any(_is_figure(row[index]) for row in report.rows)
        and not any(isinstance(row[index], str) for row in report.rows)
    }


def _is_figure(cell: Cell) -> bool:
    return cell is not None and not isinstance(cell, str | MissingFigure)
