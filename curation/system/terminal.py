"""Print for every command: data on stdout, progress on stderr.

Control characters in data are made visible (`curation.system.escaping`). Consoles are
made at each call, so `NO_COLOR`, `TERM`, `COLUMNS` and redirection apply at once. A
screen folds lines to its width; a file or pipe does only if `COLUMNS` gives one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from curation.core.json_types import ReadOnlyJson
from curation.system.tables import plain
from curation.system.words import command

#: Columns of a file or a pipe without `COLUMNS`: more than any row needs.
_PIPE_WIDTH: Final = 10_000
_COMMAND_LINE: ContextVar[tuple[str, ...]] = ContextVar("command_line", default=())


@dataclass(slots=True)
class Activity:
    """What shows a person that the command is at work."""

    #: When something was printed last, by `time.monotonic`.
    printed: float = field(default_factory=time.monotonic)
    #: Number of bars that move, and of questions that wait for the person.
    bars: int = 0
    #: Returns what is at work, and how far it is; empty if nobody has said.
    work: Callable[[], str] = str

    def note(self) -> None:
        """Remember that something was printed just now."""
        self.printed = time.monotonic()


#: That of this process.
ACTIVITY: Final = Activity()


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


class _Console(Console):
    """A console that leaves a pipe without a reader to the command line."""

    def print(self, *values: Any, **options: Any) -> None:  # noqa: ANN401 - rich's own
        """Print as rich does, and remember when."""
        super().print(*values, **options)
        ACTIVITY.note()

    @property
    def folds(self) -> bool:
        """Return whether lines are folded to a width that somebody can see."""
        return self.width != _PIPE_WIDTH

    def print_lines(self, text: str, style: str = "") -> None:
        """Print lines; rich would break a word that is longer than the screen."""
        breaks = any(len(word) > self.width for word in text.split())
        self.print(plain(text, style), soft_wrap=breaks or not self.folds)

    def on_broken_pipe(self) -> None:
        """Raise what has happened; rich itself would end the process with 1.

        Raises:
            BrokenPipeError: no one reads what is printed.
        """
        raise BrokenPipeError


def _console(*, stderr: bool) -> _Console:
    stream = sys.stderr if stderr else sys.stdout
    has_width = stream.isatty() or os.environ.get("COLUMNS")
    return _Console(
        stderr=stderr,
        width=None if has_width else _PIPE_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
    )


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
