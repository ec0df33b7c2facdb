"""Progress of a long command, on stderr: a bar on a screen, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from curation.system.terminal import ACTIVITY, log, stderr
from curation.system.words import safe

#: Seconds between lines of progress where no bar is shown.
HEARTBEAT = 10.0
#: Minimum duration in seconds that is printed before the work begins.
_LONG = 60.0
#: Things to do from which on a bar is worth its line.
_MANY = 5


class Progress:
    """Where a long piece of work reports how far it is; shows nothing by itself."""

    def log(self, message: str) -> None:
        """Report one fact that a person may want to read later."""

    def bar(
        self,
        title: str,  # noqa: ARG002 (of those that show it)
        total: int,  # noqa: ARG002 (likewise)
        found: int = 0,  # noqa: ARG002 (likewise)
        note: Callable[[], str] = str,  # noqa: ARG002 (likewise)
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar; the context is a function that takes the number of steps done.

        Args:
            title: What is done.
            total: The number of all steps, for the estimate of the time left.
            found: How many of them an earlier run did. The first steps are these: they
                are excluded from the estimate.
            note: Returns what else is to be shown now, such as a cost.

        Example:
            >>> with progress.bar("Reading", total=3) as advance:
            ...     advance(1)
        """
        return nullcontext(lambda _steps: None)


class Quiet(Progress):
    """Progress that is not shown: for a program, or a test."""


class Shown(Progress):
    """Progress for a person: a bar on a screen, elsewhere lines of `heartbeat`."""

    def log(self, message: str) -> None:
        """Print the line."""
        ACTIVITY.work = lambda: f"{message}: still at work"
        log(message, style="dim")

    @contextmanager
    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> Iterator[Callable[[int], None]]:
        """Open a bar that counts steps and estimates the time left."""
        from rich import progress as rich  # noqa: PLC0415 - takes time

        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(bar_width=20),
            rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(),
            rich.TextColumn("left"),
            rich.TimeRemainingColumn(),
            rich.TextColumn("{task.fields[note]}"),
        )
        console = stderr()
        is_screen = sys.stderr.isatty()
        bars = rich.Progress(
            *columns, console=console, transient=True, disable=not is_screen
        )
        found = min(found, total)
        task = bars.add_task(safe(title), total=total, completed=found, note="")

        def advance(steps: int) -> None:
            nonlocal found
            # The first steps were done before the clock started.
            known = min(found, steps)
            found -= known
            bars.update(task, advance=steps - known, note=safe(note()))

        def describe() -> str:
            state = bars.tasks[0]
            left = state.time_remaining
            parts = [f"{title}: {state.completed:,.0f} of {total:,}", note()]
            parts += [f"about {elapsed(left)} left"] if left else []
            return ", ".join(filter(None, parts))

        if is_screen:
            with no_heartbeat(), bars:
                yield advance
            return
        log(f"{title} {total:,} ...")
        ACTIVITY.work = describe
        try:
            yield advance
        finally:
            ACTIVITY.work = str


class Phases(Progress):
    """Progress of work in a known number of phases, each of which prints its number."""

    def __init__(self, progress: Progress, count: int) -> None:
        """Take where to show it, and how many phases there are."""
        self._progress = progress
        self._count = count
        self._number = 0

    def log(self, message: str) -> None:
        """Report one fact of the present phase."""
        self._progress.log(message)

    def begin(self, title: str) -> None:
        """Begin a phase without steps that could be counted."""
        self._progress.log(self._numbered(title))

    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a phase, and open its bar."""
        return self._progress.bar(self._numbered(title), total, found, note)

    def _numbered(self, title: str) -> str:
        self._number += 1
        return f"{self._number}/{self._count} {title}"


@contextmanager
def no_heartbeat() -> Iterator[None]:
    """Print nothing: a bar moves, or a person is answering."""
    ACTIVITY.bars += 1
    try:
        yield
    finally:
        ACTIVITY.bars -= 1
        ACTIVITY.work = str
        ACTIVITY.note()


@contextmanager
def heartbeat(seconds: float = HEARTBEAT) -> Iterator[None]:
    """Print that a command is at work whenever it has printed nothing for some time.

    Args:
        seconds: The longest silence.

    Example:
        >>> with heartbeat():
        ...     rows = open_edition("build/JSONSchemaBench").rows
    """
    start = time.monotonic()
    ended = threading.Event()

    def beat() -> None:
        remaining = seconds
        while not ended.wait(remaining):
            remaining = ACTIVITY.printed + seconds - time.monotonic()
            if remaining > 0:
                continue
            remaining = seconds
            if not ACTIVITY.bars:
                passed = elapsed(time.monotonic() - start)
                work = ACTIVITY.work() or "still at work"
                with suppress(OSError, ValueError):  # stderr may be gone
                    log(f"{work}, {passed} so far", style="dim")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def elapsed(seconds: float) -> str:
    """Return a duration to the second, so that no two lines are the same.

    Example:
        >>> elapsed(5), elapsed(110), elapsed(4000)
        ('5 s', '1 min 50 s', '66 min 40 s')
    """
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s" if minutes else f"{remainder} s"


def make_progress(count: int) -> Progress:
    """Return progress that is shown if the number of steps is worth a line."""
    return Shown() if count >= _MANY else Quiet()


def progress_for(format_: str) -> Progress:
    """Return progress that is shown to people: not with `--format json`."""
    return Quiet() if format_ == "json" else Shown()


def announce(progress: Progress, what: str, seconds: float) -> None:
    """Say how long something will take, if that is over a minute.

    Args:
        progress: Where to print it.
        what: What is done, as the beginning of a sentence.
        seconds: The measured duration.
    """
    if seconds >= _LONG:
        progress.log(f"{what} takes about {elapsed(seconds)} on a machine like ours")
