"""Progress of a long command, on stderr: a bar on a screen, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, Protocol, Self

from curation.system.escaping import safe
from curation.system.terminal import ACTIVITY, say, stderr

#: Seconds after which a line says again how far the work is, where there is no bar.
HEARTBEAT: Final = 10.0
#: Seconds from which on a duration is said before the work begins.
_LONG: Final = 60.0
#: Things to do from which on a bar is worth its line.
_MANY: Final = 5


class Progress(Protocol):
    """Where a long piece of work reports how far it is."""

    def say(self, message: str) -> None:
        """Report one fact that a person may want to read later."""

    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Open a bar; the context is a function that takes the number of steps done.

        Args:
            title: What is done.
            total: The number of all steps, so that the time left can be told.
            found: How many of them an earlier run did. The first steps are these: they
                say nothing of the time that the others take.
            note: Returns what else is to be shown now, such as a cost.

        Example:
            >>> with progress.bar("Reading", total=3) as advance:
            ...     advance(1)
        """


class Quiet:
    """Progress that is not shown: for a program, or a test."""

    def say(self, message: str) -> None:
        """Show nothing."""

    @contextmanager
    def bar(
        self,
        title: str,  # noqa: ARG002 (the protocol's)
        total: int,  # noqa: ARG002 (the protocol's)
        found: int = 0,  # noqa: ARG002 (the protocol's)
        note: Callable[[], str] = str,  # noqa: ARG002 (the protocol's)
    ) -> Iterator[Callable[[int], None]]:
        """Open a bar that shows nothing."""
        yield lambda _steps: None


class Shown:
    """Progress for a person: never silent for longer than `HEARTBEAT`."""

    def __init__(self, heartbeat: float = HEARTBEAT) -> None:
        """Say how many seconds lie between two lines where there is no screen."""
        self._heartbeat = heartbeat

    def say(self, message: str) -> None:
        """Print the line."""
        ACTIVITY.work = message
        say(message, style="dim")

    @contextmanager
    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> Iterator[Callable[[int], None]]:
        """Open a bar that counts steps and tells the time left."""
        found = min(found, total)
        if not sys.stderr.isatty():
            with (
                no_heartbeat(),
                _Lines(title, total, found, self._heartbeat, note) as lines,
            ):
                yield _without_first(found, lines.advance)
            return
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
        with (
            no_heartbeat(),
            rich.Progress(*columns, console=stderr(), transient=True) as bars,
        ):
            task = bars.add_task(safe(title), total=total, completed=found, note="")

            def advance(steps: int) -> None:
                bars.update(task, advance=steps, note=safe(note()))

            yield _without_first(found, advance)


def _without_first(found: int, advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return the function without its first so many steps."""

    def later(steps: int) -> None:
        nonlocal found
        known = min(found, steps)
        found -= known
        if steps > known:
            advance(steps - known)

    return later


class Phases:
    """Progress of work in a known number of phases, each of which says its number."""

    def __init__(self, progress: Progress, count: int) -> None:
        """Take where to show it, and how many phases there are."""
        self._progress = progress
        self._count = count
        self._number = 0

    def say(self, message: str) -> None:
        """Report one fact of the present phase."""
        self._progress.say(message)

    def begin(self, title: str) -> None:
        """Begin a phase without steps that could be counted."""
        self._progress.say(self._numbered(title))

    def bar(
        self, title: str, total: int, found: int = 0, note: Callable[[], str] = str
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a phase, and open its bar."""
        return self._progress.bar(self._numbered(title), total, found, note)

    def _numbered(self, title: str) -> str:
        self._number += 1
        return f"{self._number}/{self._count} {title}"


class _Lines:
    """A bar where there is no screen: now and then a line that says how far it is."""

    def __init__(
        self,
        title: str,
        total: int,
        found: int,
        heartbeat: float,
        note: Callable[[], str],
    ) -> None:
        self._title = title
        self._note = note
        #: The last line: none is printed twice.
        self._line = ""
        self._total = total
        self._found = found
        self._heartbeat = heartbeat
        self._done = 0
        #: Steps, and when, at the first line: what came before it may have been found.
        self._before: int | None = None
        self._start = self._since = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        say(f"{self._title} {self._total:,} ...")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def advance(self, steps: int) -> None:
        """Count steps."""
        self._done += steps

    def _beat(self) -> None:
        while not self._ended.wait(self._heartbeat):
            done = self._done
            parts = filter(None, (self._how_far(done), self._note()))
            line = f"{self._title}: {', '.join(parts)}"
            if line != self._line:
                self._line = line
                say(line)
            if self._before is None:
                self._before, self._since = done, time.monotonic()

    def _how_far(self, own: int) -> str:
        now, done = time.monotonic(), self._found + own
        passed = elapsed(now - self._start)
        if self._before is None or own == self._before:
            return f"{done:,} of {self._total:,} done, {passed} so far"
        each = (now - self._since) / (own - self._before)
        remaining = spoken(each * max(0, self._total - done))
        return f"{done:,} of {self._total:,}, {passed} so far, about {remaining} left"


@contextmanager
def no_heartbeat() -> Iterator[None]:
    """Say nothing of one's own: a bar moves, or a person is being asked."""
    ACTIVITY.bars += 1
    try:
        yield
    finally:
        ACTIVITY.bars -= 1
        ACTIVITY.work = ""
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
                work = f"{ACTIVITY.work}: " if ACTIVITY.work else ""
                with suppress(OSError, ValueError):  # stderr may be gone
                    say(f"{work}still at work, {passed} so far", style="dim")

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
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spoken(seconds: float) -> str:
    """Return a duration as a person says it.

    Example:
        >>> spoken(5), spoken(110), spoken(4000)
        ('5 s', '2 min', '1.1 h')
    """
    if seconds < _LONG:
        return f"{seconds:.0f} s"
    if seconds < 60 * _LONG:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def progress_of(count: int) -> Progress:
    """Return progress that is shown if so many things to do are worth a line."""
    return Shown() if count >= _MANY else Quiet()


def announce(
    progress: Progress, what: str, seconds: float, by: str = "on a machine like ours"
) -> None:
    """Say how long something will take, if that is over a minute.

    Args:
        progress: Where to say it.
        what: What is done, as the beginning of a sentence.
        seconds: How long it takes by a figure that was measured.
        by: The end of the sentence: where the figure comes from.
    """
    if seconds >= _LONG:
        progress.say(f"{what} takes about {spoken(seconds)} {by}")
