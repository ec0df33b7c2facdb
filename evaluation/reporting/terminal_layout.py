"""Tables laid out for a terminal: whole words in whatever width there is.

A table that is too wide is turned (columns become lines) if that fits, and else folded:
each row a block of its own, a line a figure. Figures are never broken. What is to be
copied stands on a line of its own, as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table as Framed
from rich.text import Text

from curation.system.escaping import safe
from curation.system.terminal import plain
from evaluation.reporting.tables import MissingFigure, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from evaluation.reporting.tables import Cell, Table

#: Columns of a terminal that texts are given before a table is turned or folded.
_TEXT: Final = 24
#: Engines that stand side by side in a table that is turned.
_SIDE_BY_SIDE: Final = 4
#: Between two columns of a framed table.
_GAP: Final = 3
#: Before the figures of a block, and before a command.
_INDENT: Final = "  "


def for_terminal(table: Table, width: int) -> RenderableType:
    """Return what rich prints on a terminal or into a pipe.

    Args:
        table: The table.
        width: Columns of the terminal.
    """
    heading = plain(table.heading, "italic")
    if not table.rows:
        return Group(heading, Text())
    if _commands(table):
        return Group(heading, *_blocks(table, width))
    rows = [[text_of(cell) for cell in row] for row in table.rows]
    upright = _laid_out(table.columns, rows, numbers(table), width)
    if upright is not None:
        return Group(heading, upright)
    turned = _turned(table, width)
    return Group(heading, *([turned] if turned else _blocks(table, width)))


def numbers(table: Table) -> set[int]:
    """Return the columns that hold figures: they align right."""
    return {
        index
        for index in range(len(table.columns))
        if any(_is_figure(row[index]) for row in table.rows)
        and not any(isinstance(row[index], str) for row in table.rows)
    }


def _is_figure(cell: Cell) -> bool:
    return cell is not None and not isinstance(cell, str | MissingFigure)


def _laid_out(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    figures: set[int],
    width: int,
) -> Framed | None:
    """Return a framed table that breaks no word and no figure; None if too narrow."""
    widths = _widths(headers, rows, figures, width)
    if widths is None:
        return None
    drawn = Framed(box=SIMPLE, pad_edge=False)
    for index, (header, columns) in enumerate(zip(headers, widths, strict=True)):
        drawn.add_column(
            plain(header),
            justify="right" if index in figures else "left",
            width=columns,
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(plain(text) for text in row))
    return drawn


def _widths(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    figures: set[int],
    width: int,
) -> list[int] | None:
    """Return the width of each column; None where words would have to be broken."""
    least, most = [], []
    for index, header in enumerate(headers):
        cells = [safe(row[index]) for row in rows]
        natural = max(map(cell_len, cells), default=0)
        words = _longest_word([header, *([] if index in figures else cells)])
        narrow = natural if index in figures else min(natural, max(_TEXT, words))
        least.append(max(1, narrow, words))
        most.append(max(1, natural, cell_len(safe(header))))
    left = width - sum(least) - _GAP * len(headers)
    if left < 0:
        return None
    found = least
    for index, wanted in enumerate(most):
        more = min(left, max(0, wanted - found[index]))
        found[index] += more
        left -= more
    return found


def _longest_word(texts: Iterable[str]) -> int:
    words = (word for text in texts for word in safe(text).split())
    return max(map(cell_len, words), default=0)


def _turned(table: Table, width: int) -> Framed | None:
    """Return the table with its rows side by side; None if that does not fit."""
    if not 1 <= len(table.rows) <= _SIDE_BY_SIDE:
        return None
    first, *others = table.columns
    headers = [first, *(text_of(row[0]) for row in table.rows)]
    rows = [
        [name, *(text_of(row[index]) for row in table.rows)]
        for index, name in enumerate(others, start=1)
    ]
    return _laid_out(headers, rows, set(range(1, len(headers))), width)


def _commands(table: Table) -> set[int]:
    """Return the columns whose cells are to be copied, where there are any."""
    found = {table.columns.index(name) for name in table.commands}
    return {index for index in found if any(row[index] for row in table.rows)}


def _blocks(table: Table, width: int) -> Iterable[RenderableType]:
    """Yield each row as a block, a line a figure."""
    commands = _commands(table)
    for row in table.rows:
        yield Text()
        yield plain(text_of(row[0]))
        inner = Framed.grid(padding=(0, 2, 0, 0))
        inner.add_column(overflow="fold", max_width=max(12, width // 3))
        inner.add_column(overflow="fold")
        shown = 0
        for index, name in enumerate(table.columns[1:], start=1):
            if index not in commands and row[index] not in ("", None):
                inner.add_row(plain(_INDENT + name), plain(text_of(row[index])))
                shown += 1
        if shown:
            yield inner
        for index in sorted(commands):
            if row[index]:
                line = _INDENT + safe(text_of(row[index]))
                yield Text(line, no_wrap=True, overflow="ignore")
    yield Text()
