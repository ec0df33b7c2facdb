"""What every command prints with: stdout for data, stderr for progress.

Control characters in data are made visible (`curation.system.escaping`). Consoles are
made at each call, so that `NO_COLOR`, `TERM`, `COLUMNS` and redirection are those of
the moment. What was typed is known here too: `command_line`.

A screen folds lines and tables to its width. A file or a pipe has none: a line is a
line and a row is a line there, for `grep` and its like, unless `COLUMNS` says how wide
whatever shows it is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from curation.system.escaping import safe_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import ConsoleOptions

    from curation.core.json_types import ReadOnlyJson

#: Columns between two of a table.
_GAP = 3
#: When something was printed last, by the clock that only goes forward.
_last_printed: list[float] = [time.monotonic()]
#: Columns of a file or a pipe, where nobody has said how many: more than a row needs.
PIPE_WIDTH = 400
_COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())


@contextmanager
def command_line_of(arguments: Sequence[str]) -> Iterator[None]:
    """Let `command_line` return what `csbdata` was called with.

    Args:
        arguments: What follows the program's name.
    """
    before = _COMMAND_LINE.set(("csbdata", *arguments))
    try:
        yield
    finally:
        _COMMAND_LINE.reset(before)


def command_line() -> tuple[str, ...]:
    """Return the words of the command that is run, `csbdata` first.

    Empty where another program uses these packages: its own command line says nothing
    about what it calls.
    """
    return _COMMAND_LINE.get()


class Format(StrEnum):
    """How a command answers."""

    AUTO = "auto"
    """For people: coloured on a terminal, plain in a pipe."""
    JSON = "json"
    """One JSON object on stdout, for programs."""


FormatOption = Annotated[
    Format,
    typer.Option("--format", help="auto is for people, json for programs."),
]


def plain(text: str, style: str = "") -> Text:
    """Return safe text that rich prints as it is: no markup, no emoji codes."""
    return Text(safe_lines(text), style=style)


class _Console(Console):
    """A console that leaves a pipe without a reader to the command line."""

    def print(self, *values: Any, **options: Any) -> None:  # noqa: ANN401 - rich's own
        """Print as rich does, and remember when."""
        super().print(*values, **options)
        note_output()

    @property
    def folds(self) -> bool:
        """Return whether lines are folded to a width that somebody can see."""
        return self.width != PIPE_WIDTH

    def print_lines(self, text: str, style: str = "") -> None:
        """Print lines; where they are folded, a word that is too long stays whole."""
        safe_text, folds = safe_lines(text), self.folds
        if folds and any(cell_len(word) > self.width for word in safe_text.split()):
            # rich would break such a word; a terminal copies it whole.
            safe_text, folds = _folded(safe_text, self.width), False
        self.print(Text(safe_text, style=style), soft_wrap=not folds)

    def on_broken_pipe(self) -> None:
        """Raise what has happened; rich itself would end the process with 1.

        Raises:
            BrokenPipeError: nobody reads what is printed.
        """
        raise BrokenPipeError


def _folded(text: str, width: int) -> str:
    """Return lines folded between words, the longer ones on lines of their own."""
    keep_words = TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(
        part for line in text.split("\n") for part in keep_words.wrap(line) or [""]
    )


def _console(*, stderr: bool) -> _Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _stated_width() or PIPE_WIDTH
    return _Console(
        stderr=stderr, width=width, markup=False, emoji=False, highlight=False
    )


def _stated_width() -> int:
    """Return the width that `COLUMNS` says; 0 where it says none."""
    stated = os.environ.get("COLUMNS", "")
    return int(stated) if stated.isascii() and stated.isdigit() else 0


def note_output() -> None:
    """Remember that something was printed just now."""
    _last_printed[0] = time.monotonic()


def last_printed() -> float:
    """Return when something was printed last, by `time.monotonic`."""
    return _last_printed[0]


def stdout() -> _Console:
    """Return the console for data."""
    return _console(stderr=False)


def stderr() -> _Console:
    """Return the console for progress, warnings and errors."""
    return _console(stderr=True)


def say(message: str, style: str = "") -> None:
    """Print one line of progress or warning on stderr; a screen folds it at words."""
    stderr().print_lines(message, style)


def say_command(what: str, command: str) -> None:
    """Print what a command is good for and, on a line of its own, the command.

    It is never folded, so that it can be copied.
    """
    say(what if what.endswith("?") else f"{what}:")
    stderr().print(plain(f"  {command}"), soft_wrap=True)


def show(text: str, style: str = "") -> None:
    """Print lines of data on stdout; a screen folds them at words, a pipe nowhere."""
    stdout().print_lines(text, style)


def show_whole(text: str, style: str = "") -> None:
    """Print lines of data on stdout and fold none: a format has its own lines."""
    stdout().print(plain(text, style), soft_wrap=True)


def print_json(value: ReadOnlyJson) -> None:
    """Print one JSON value on stdout, in ASCII, which every locale can print."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingTable:
    """A table that is folded where the screen is too narrow for a word of every column.

    Its columns then stand below each other in several tables, of which each repeats
    the first column: no word is broken.
    """

    #: The titles of the columns.
    headers: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    #: Printed above the table.
    title: str
    #: Positions of the columns that align right.
    right: frozenset[int]

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> Iterator[Table]:
        """Yield the table whole, or in as many parts as it needs."""
        parts: list[list[int]] = [[0]]
        for column in range(1, len(self.headers)):
            least = sum(map(self._longest_word, [*parts[-1], column]))
            if least > self._room(options, len(parts[-1]) + 1) and len(parts[-1]) > 1:
                parts.append([0, column])
            else:
                parts[-1].append(column)
        for number, part in enumerate(parts):
            room = self._room(options, len(part))
            yield self._drawn(part, room, self.title if not number else "")

    def _cells(self, column: int) -> list[Text]:
        return [self.headers[column], *(row[column] for row in self.rows)]

    def _longest_word(self, column: int) -> int:
        words = (word for cell in self._cells(column) for word in cell.plain.split())
        return max(map(cell_len, words), default=0)

    def _longest_line(self, column: int) -> int:
        lines = (
            line for cell in self._cells(column) for line in cell.plain.split("\n")
        )
        return max(map(cell_len, lines), default=0)

    @staticmethod
    def _room(options: ConsoleOptions, columns: int) -> int:
        """Return how wide the columns may be together, beside what parts them."""
        return options.max_width - _GAP * (columns - 1) - 2

    def _widths(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """Return the width of each column: a word at least, a line at most."""
        widths = {column: self._longest_word(column) for column in columns}
        left = room - sum(widths.values())
        wanted = {
            column: self._longest_line(column) - width
            for column, width in widths.items()
        }
        waiting = sorted(columns, key=wanted.__getitem__)
        for position, column in enumerate(waiting):
            share = max(0, min(wanted[column], left // (len(waiting) - position)))
            widths[column] += share
            left -= share
        return widths

    def _drawn(self, columns: Sequence[int], room: int, title: str) -> Table:
        drawn = Table(
            title=plain(title) if title else None,
            title_justify="left",
            box=SIMPLE,
            pad_edge=False,
        )
        widths = self._widths(columns, room)
        for column in columns:
            # A word that is longer than the screen is broken there, never cut.
            drawn.add_column(
                self.headers[column],
                justify="right" if column in self.right else "left",
                overflow="fold",
                width=widths[column],
            )
        for row in self.rows:
            drawn.add_row(*(row[column] for column in columns))
        return drawn


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    numbers: Iterable[int] = (),
) -> FittingTable:
    """Return a table of safe cells.

    Args:
        headers: The titles of the columns.
        rows: The cells; a `Text` keeps its style, None prints as an empty cell.
        title: Printed above the table.
        numbers: Positions of the columns that align right.
    """
    return FittingTable(
        headers=tuple(plain(header) for header in headers),
        rows=tuple(tuple(_cell(value) for value in row) for row in rows),
        title=title,
        right=frozenset(numbers),
    )


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, bool) or value is None:
        return plain("" if value is None else str(value).lower())
    if isinstance(value, int):
        return plain(f"{value:,}")
    return plain(str(value))
