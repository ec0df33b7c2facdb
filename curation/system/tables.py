"""Tables laid out for a terminal: whole words in any width.

A table that is too wide shows its shorter cells, where it has such. If these do not
fit either, each row becomes a block, a line a cell; a compact table instead leaves out
its last columns and names them. Figures are never broken, and a command stands on a
line of its own, so that it can be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.table import Table as Framed
from rich.text import Text

from curation.system.escaping import safe_lines

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

#: Columns of a terminal that a text gets before the table is split.
_TEXT: Final = 24
#: Between two columns; of a compact table one less.
_GAP: Final = 3
#: Before the cells of a block, and before a command.
_INDENT: Final = "  "


def plain(text: str, style: str = "") -> Text:
    """Return safe text that rich prints as it is: no markup, no emoji codes."""
    return Text(safe_lines(text), style=style)


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalTable:
    """A table that rich lays out in the width of its console."""

    headers: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    #: Printed above the table.
    title: Text
    #: Positions of the columns that align right, and whose cells are never folded.
    numbers: frozenset[int]
    #: Positions of the columns whose cells are commands.
    commands: frozenset[int] = frozenset()
    #: The rows with shorter cells, to be shown in their place before anything wraps.
    shorter: tuple[tuple[tuple[Text, ...], ...], ...] = ()
    #: Whether columns are left out rather than rows become several lines.
    compact: bool = False

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield the table upright or compact, or as blocks."""
        if self.title:
            yield self.title
        width = options.max_width
        if any(row[index] for row in self.rows for index in self.commands):
            yield from self._blocks(width)
            return
        if self.compact:
            yield from self._compact(width)
        elif framed := self._upright(width, len(self.headers)):
            yield framed
        else:
            yield from self._blocks(width)

    def _upright(self, width: int, columns: int) -> Framed | None:
        """Return the first columns with the longest cells that fit; None if none do."""
        variants = (self.rows, *self.shorter)
        layouts = [(rows, False) for rows in variants if self.shorter]
        layouts += [(rows, True) for rows in variants]
        headers = self.headers[:columns]
        for rows, folds in layouts:
            cells = [row[:columns] for row in rows]
            framed = self._framed(headers, cells, width, folds=folds)
            if framed:
                return framed
        return None

    def _compact(self, width: int) -> Iterator[RenderableType]:
        for columns in range(len(self.headers), 0, -1):
            framed = self._upright(width, columns)
            if framed:
                yield framed
                break
        if hidden := self.headers[columns:]:
            names = ", ".join(header.plain for header in hidden)
            yield Text(f"Too wide for here: {names}", style="dim")
        yield Text()

    def _framed(
        self,
        headers: Sequence[Text],
        rows: Sequence[Sequence[Text]],
        width: int,
        *,
        folds: bool = True,
    ) -> Framed | None:
        """Return a framed table that breaks no word; None if the width is too small."""
        widths, missing = [], []
        for index, header in enumerate(headers):
            cells = [row[index] for row in rows]
            whole = index in self.numbers or not folds
            natural = _longest(
                line for cell in cells for line in cell.plain.split("\n")
            )
            folded = [header] if whole else [header, *cells]
            words = _longest(word for cell in folded for word in cell.plain.split())
            narrow = natural if whole else min(natural, max(_TEXT, words))
            widths.append(max(1, narrow, words))
            missing.append(max(0, natural - widths[-1], header.cell_len - widths[-1]))
        room = width - sum(widths) - (_GAP - self.compact) * len(headers)
        if room < 0:
            return None
        framed = Framed(
            box=SIMPLE,
            pad_edge=False,
            padding=(0, 0 if self.compact else 1, 0, 1),
            show_edge=not self.compact,
        )
        for index, (header, more) in enumerate(zip(headers, missing, strict=True)):
            framed.add_column(
                header,
                justify="right" if index in self.numbers else "left",
                width=widths[index] + min(room, more),
                overflow="fold",
            )
            room -= min(room, more)
        for row in rows:
            framed.add_row(*row)
        return framed

    def _blocks(self, width: int) -> Iterator[RenderableType]:
        for row in self.rows:
            yield Text()
            yield row[0]
            cells = Framed.grid(padding=(0, 2, 0, 0))
            cells.add_column(overflow="fold", max_width=max(12, width // 3))
            cells.add_column(overflow="fold")
            for index, name in enumerate(self.headers[1:], start=1):
                if index not in self.commands and row[index]:
                    cells.add_row(Text(_INDENT) + name, row[index])
            if cells.row_count:
                yield cells
            for index in sorted(self.commands):
                if row[index]:
                    command = _INDENT + row[index].plain
                    yield Text(command, no_wrap=True, overflow="ignore")
        yield Text()


def table(  # noqa: PLR0913 - the layouts
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    numbers: Iterable[int] = (),
    commands: Iterable[int] = (),
    shorter: Iterable[Iterable[Sequence[object]]] = (),
    compact: bool = False,
) -> TerminalTable:
    """Return a table of safe cells.

    Args:
        headers: The titles of the columns.
        rows: The cells; a `Text` keeps its style, None prints as an empty cell.
        title: Printed above the table.
        numbers: Positions of the columns that align right.
        commands: Positions of the columns whose cells are commands.
        shorter: The rows again, with shorter cells each time.
        compact: Whether columns are left out where the table is too wide.
    """
    return TerminalTable(
        headers=tuple(map(plain, headers)),
        rows=_cells(rows),
        shorter=tuple(map(_cells, shorter)),
        compact=compact,
        title=plain(title, "italic"),
        numbers=frozenset(numbers),
        commands=frozenset(commands),
    )


def _cells(rows: Iterable[Sequence[object]]) -> tuple[tuple[Text, ...], ...]:
    return tuple(tuple(map(_cell, row)) for row in rows)


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, bool) or value is None:
        return plain("" if value is None else str(value).lower())
    return plain(f"{value:,}" if isinstance(value, int) else str(value))


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)
