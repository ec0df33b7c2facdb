"""Print for every command: data on stdout, progress on stderr.

Control characters in data are made visible (`curation.system.words`). Consoles are
made at each call, so `NO_COLOR`, `TERM`, `COLUMNS` and redirection apply at once. A
screen folds lines to its width; a file or pipe does only if `COLUMNS` gives one.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import msgspec
import typer

from curation.core.json_types import ReadOnlyJson
from curation.system.words import command, plain, safe_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Group, RenderableType
    from rich.text import Text

    from curation.system.console import Console


class Activity(msgspec.Struct):
    """What shows a person that the command is at work."""

    #: When something was printed last, by `time.monotonic`.
    printed: float = msgspec.field(default_factory=time.monotonic)
    #: Number of bars that move, and of questions that wait for the person.
    bars: int = 0
    #: Returns the running work and its progress; empty if unknown.
    work: Callable[[], str] = str

    def note(self) -> None:
        """Remember that something was printed just now."""
        self.printed = time.monotonic()


#: That of this process.
ACTIVITY = Activity()


#: Variables by which a file or a pipe is written as a screen is.
_AS_ON_A_SCREEN = frozenset({"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"})
_COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())


@contextmanager
def set_command_line(arguments: Sequence[str]) -> Iterator[None]:
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

    Empty if another program uses these packages.
    """
    return _COMMAND_LINE.get()


def with_more(*words: object, here: Sequence[object] = ()) -> str:
    """Return the command that is run with more options, to be pasted.

    Args:
        words: The options.
        here: What to name where another program uses these packages.
    """
    return command(*(command_line()[1:] or here), *words)


class Format(StrEnum):
    """How a command answers."""

    AUTO = "auto"
    """For people: coloured on a terminal, plain in a pipe."""
    JSON = "json"
    """One JSON object on stdout, for programs."""


FormatOption = Annotated[
    Format, typer.Option("--format", help="auto is for people, json for programs.")
]


def stdout() -> Console:
    """Return the console for data."""
    from curation.system.console import console  # noqa: PLC0415 - takes 60 ms

    return console(stderr=False, after_print=ACTIVITY.note)


def stderr() -> Console:
    """Return the console for progress, warnings and errors."""
    from curation.system.console import console  # noqa: PLC0415 - takes 60 ms

    return console(stderr=True, after_print=ACTIVITY.note)


def _wrote_plainly(stream: TextIO, text: str) -> bool:
    """Write lines as they are if that is all that a console would do."""
    if stream.isatty() or not _AS_ON_A_SCREEN.isdisjoint(os.environ):
        return False
    stream.write(f"{safe_lines(text)}\n")
    stream.flush()
    ACTIVITY.note()
    return True


def log(message: str, style: str = "") -> None:
    """Print one line of progress or warning on stderr; a screen folds it at words."""
    if not _wrote_plainly(sys.stderr, message):
        stderr().print_lines(message, style)


def say_command(what: str, command: str) -> None:
    """Print the purpose of a command and, on a separate line, the command.

    It is never folded, so that it can be copied.
    """
    log(what if what.endswith("?") else f"{what}:")
    if not _wrote_plainly(sys.stderr, f"  {command}"):
        stderr().print(plain(f"  {command}"), soft_wrap=True)


def show(text: str, style: str = "") -> None:
    """Print lines of data on stdout; a screen folds them at words, a pipe nowhere."""
    if not _wrote_plainly(sys.stdout, text):
        stdout().print_lines(text, style)


def show_whole(text: str, style: str = "") -> None:
    """Print lines of data on stdout and fold none: a format has its own lines."""
    if not _wrote_plainly(sys.stdout, text):
        stdout().print(plain(text, style), soft_wrap=True)


def show_first(
    lines: Sequence[str],
    limit: int,
    style: str = "",
    *,
    show: Callable[[str, str], None] = show,
) -> None:
    """Print the first lines of a list, and how many more `--format json` has.

    Args:
        lines: The list.
        limit: How many lines are printed.
        style: Their style.
        show: Prints a line.
    """
    for line in lines[:limit]:
        show(line, style)
    if len(lines) > limit:
        show(f"... and {len(lines) - limit:,} more (--format json)", style)


def print_json(value: ReadOnlyJson) -> None:
    """Print one JSON value on stdout, in ASCII, which every locale can print."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


#: Lines of a screen.
_LINES = 40
_MORE = "Another table with its notes, or --all"


def print_screen(
    command: str,
    tables: Mapping[str, RenderableType],
    names: Sequence[str],
    lines: Sequence[str] = (),
    remark: str = "",
) -> None:
    """Print the tables that fit on a screen, and on stderr the names of the others.

    Args:
        command: What prints another table with `--table`, and all with `--all`.
        tables: The tables by name, the most telling first.
        names: The names of all tables, a task's as `TASK/NAME`.
        lines: Printed above them.
        remark: A sentence about the cells.
    """
    for line in lines:
        show(line)
    names = list(dict.fromkeys((*names, *tables)))
    more = f"{remark} {_MORE}".lstrip()
    # The command below is one line more.
    left = _LINES - 1 - _height(map(plain, (*lines, more, *_by_task(names))))
    for name, table in tables.items():
        height = _height([table])
        if height <= left:
            left -= height
            stdout().print(table, crop=False)
            names.remove(name)
    if names:
        say_command(more, f"{command} --table {shlex.quote(names[0])}")
    for line in _by_task(names):
        log(line)


def _height(parts: Iterable[RenderableType]) -> int:
    """Return the number of lines that parts of a screen take."""
    console = stdout()
    return sum(len(console.render_lines(part)) for part in parts)


def _by_task(names: Iterable[str]) -> list[str]:
    """Return names of tables, a line for each task and one for the others."""
    by_task: dict[str, list[str]] = {}
    for name in names:
        task, _, slug = name.rpartition("/")
        by_task.setdefault(task, []).append(slug)
    return [
        ": ".join(filter(None, (task, ", ".join(own)))) for task, own in by_task.items()
    ]


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    numbers: Iterable[int] = (),
) -> Group:
    """Return a table of safe cells; a screen folds those that are too long.

    Args:
        headers: The titles of the columns.
        rows: The cells; a `Text` keeps its style, None prints as an empty cell.
        title: Printed above the table.
        numbers: Positions of the columns that align right.
    """
    from rich.box import SIMPLE  # noqa: PLC0415 - takes time
    from rich.console import Group  # noqa: PLC0415 - takes time
    from rich.table import Table  # noqa: PLC0415 - takes time

    framed = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 1))
    right = frozenset(numbers)
    for index, header in enumerate(headers):
        framed.add_column(
            _cell(header),
            justify="right" if index in right else "left",
            overflow="fold",
        )
    for row in rows:
        framed.add_row(*map(_cell, row))
    return Group(plain(title, "italic"), framed) if title else Group(framed)


def _cell(value: object) -> Text:
    from rich.text import Text  # noqa: PLC0415 - takes time

    if isinstance(value, Text):
        return value
    if value is None:
        return Text()
    if isinstance(value, bool):
        return Text(str(value).lower())
    return Text(safe_lines(f"{value:,}" if isinstance(value, int) else str(value)))
