"""The consoles of rich: on a screen they fold and colour the output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console as RichConsole

from curation.system.words import plain

#: Columns of a file or a pipe without `COLUMNS`: more than any row needs.
_PIPE_WIDTH = 10_000


class Console(RichConsole):
    """A console that leaves a pipe without a reader to the command line."""

    #: Called whenever something was printed.
    after_print: Callable[[], None]

    def print(self, *values: Any, **options: Any) -> None:  # noqa: ANN401 - rich's own
        """Print as rich does, and let it be known."""
        super().print(*values, **options)
        self.after_print()

    @property
    def folds(self) -> bool:
        """Return whether lines are folded to a width that somebody can see."""
        return self.width != _PIPE_WIDTH

    def print_lines(self, text: str, style: str = "") -> None:
        """Print lines; rich would break a word that is longer than the screen."""
        breaks = any(len(word) > self.width for word in text.split())
        self.print(plain(text, style), soft_wrap=breaks or not self.folds)

    def on_broken_pipe(self) -> None:
        """Raise the exception; rich itself would end the process with 1.

        Raises:
            BrokenPipeError: no process reads the output.
        """
        raise BrokenPipeError


def console(*, stderr: bool, after_print: Callable[[], None]) -> Console:
    """Return a new console for stdout or stderr."""
    stream = sys.stderr if stderr else sys.stdout
    has_width = stream.isatty() or os.environ.get("COLUMNS")
    made = Console(
        stderr=stderr,
        width=None if has_width else _PIPE_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
    )
    made.after_print = after_print
    return made
