"""Print for every command: data on stdout, progress on stderr.

Control characters in data are made visible (`curation.system.escaping`). Consoles are
made at each call, so `NO_COLOR`, `TERM`, `COLUMNS` and redirection apply at once. A
screen folds lines to its width; a file or pipe does only if `COLUMNS` gives one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer

from curation.core.json_types import ReadOnlyJson
from curation.system.activity import ACTIVITY
from curation.system.escaping import safe_lines
from curation.system.tables import plain
from curation.system.words import command

if TYPE_CHECKING:
    from curation.system.console import Console

#: Variables by which a file or a pipe is written as a screen is.
_AS_ON_A_SCREEN: Final = frozenset({"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"})
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

    return console(stderr=False)


def stderr() -> Console:
    """Return the console for progress, warnings and errors."""
    from curation.system.console import console  # noqa: PLC0415 - takes 60 ms

    return console(stderr=True)


def _wrote_plainly(stream: TextIO, text: str) -> bool:
    """Write lines as they are if that is all that a console would do."""
    if stream.isatty() or not _AS_ON_A_SCREEN.isdisjoint(os.environ):
        return False
    stream.write(f"{safe_lines(text)}\n")
    stream.flush()
    ACTIVITY.note()
    return True


def say(message: str, style: str = "") -> None:
    """Print one line of progress or warning on stderr; a screen folds it at words."""
    if not _wrote_plainly(sys.stderr, message):
        stderr().print_lines(message, style)


def say_command(what: str, command: str) -> None:
    """Print what a command is good for and, on a line of its own, the command.

    It is never folded, so that it can be copied.
    """
    say(what if what.endswith("?") else f"{what}:")
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
