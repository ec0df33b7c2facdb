"""Progress of a long command, on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from curation.system.escaping import safe
from curation.system.terminal import say, stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


class Progress(Protocol):
    """Where a long piece of work reports how far it is."""

    def say(self, message: str) -> None:
        """Report one fact that a person may want to read later."""

    def bar(
        self, title: str, total: int | None = None
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar; the context is a function that takes the number of steps done.

        Args:
            title: What is done.
            total: The number of all steps, if it is known.

        Example:
            >>> with progress.bar("Reading", total=3) as advance:
            ...     advance(1)
        """


class Quiet:
    """Progress that is not shown: for a program, or a test."""

    def say(self, message: str) -> None:
        """Show nothing."""

    @contextmanager
    def _bar(self) -> Iterator[Callable[[int], None]]:
        yield lambda _steps: None

    def bar(
        self,
        title: str,  # noqa: ARG002 (the protocol's)
        total: int | None = None,  # noqa: ARG002 (the protocol's)
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Return a bar that shows nothing."""
        return self._bar()


class Shown:
    """Progress for a person."""

    def say(self, message: str) -> None:
        """Print the line."""
        say(message, style="dim")

    @contextmanager
    def _bar(self, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
        if not sys.stderr.isatty():
            say(f"{title} ...")
            yield lambda _steps: None
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn() if total is None else TimeRemainingColumn(),
        )
        with Bars(*columns, console=stderr(), transient=True) as bars:
            task = bars.add_task(safe(title), total=total)
            yield lambda steps: bars.advance(task, steps)

    def bar(
        self, title: str, total: int | None = None
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar that counts steps; with their total it tells the time left."""
        return self._bar(title, total)
