"""What every command prints with: stdout for data, stderr for progress.

Control characters in data are made visible (`curation.system.escaping`). Consoles are
made at each call, so that `NO_COLOR`, `TERM` and redirection are those of the
moment.
"""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from curation.system.escaping import safe_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curation.core.json_types import ReadOnlyJson

#: Columns where the output is a file or a pipe: tables are not folded there.
PIPE_WIDTH = 400


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

    def on_broken_pipe(self) -> None:
        """Raise what has happened; rich itself would end the process with 1.

        Raises:
            BrokenPipeError: nobody reads what is printed.
        """
        raise BrokenPipeError


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return _Console(
        stderr=stderr, width=width, markup=False, emoji=False, highlight=False
    )


def stdout() -> Console:
    """Return the console for data."""
    return _console(stderr=False)


def stderr() -> Console:
    """Return the console for progress, warnings and errors."""
    return _console(stderr=True)


def say(message: str, style: str = "") -> None:
    """Print one line of progress or warning on stderr."""
    stderr().print(plain(message, style), soft_wrap=True)


def show(text: str, style: str = "") -> None:
    """Print lines of data on stdout, never folded."""
    stdout().print(plain(text, style), soft_wrap=True)


def print_json(value: ReadOnlyJson) -> None:
    """Print one JSON value on stdout, in ASCII, which every locale can print."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    numbers: Iterable[int] = (),
) -> Table:
    """Return a table of safe cells.

    Args:
        headers: The titles of the columns.
        rows: The cells; a `Text` keeps its style, None prints as an empty cell.
        title: Printed above the table.
        numbers: Positions of the columns that align right.
    """
    right = set(numbers)
    drawn = Table(
        title=plain(title) if title else None,
        title_justify="left",
        box=SIMPLE,
        pad_edge=False,
    )
    for index, header in enumerate(headers):
        drawn.add_column(
            plain(header),
            justify="right" if index in right else "left",
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(_cell(value) for value in row))
    return drawn


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, bool) or value is None:
        return plain("" if value is None else str(value).lower())
    if isinstance(value, int):
        return plain(f"{value:,}")
    return plain(str(value))
