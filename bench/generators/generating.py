"""A generator as a process: one schema a line on stdin, one answer a line on stdout.

Runs in the environment of a peer as well, so it needs the standard library alone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds after which a generator that swallows the alarm is rung again.
_AGAIN = 0.05
#: Attempts in a row that raise, after which a schema is given up.
FAILURES = 20
_WARMING = {
    "schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "time": {"type": "string", "format": "date-time"},
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "sizes": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["name", "time", "code", "sizes"],
    },
    "dialect": "draft-07",
}
_WARM = 2.0
Task = dict[str, Any]


class Fill(Protocol):
    """A generator: hands over one value after the other, until it is interrupted."""

    def __call__(self, task: Task, add: Callable[[Any], None]) -> None:
        """Make values of `task["schema"]`, in the dialect `task["dialect"]`."""


class TimeUpError(BaseException):
    """The time budget is spent. No `Exception`, so that no library handles it."""


class _Alarm:
    """Interrupts what is running when its time is up."""

    def __init__(self) -> None:
        self.running = self.rung = False
        signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, *_: object) -> None:
        if self.running:
            self.rung = True
            raise TimeUpError

    def run(self, seconds: float, work: Callable[[], None]) -> str:
        """Run the work and return how it ended."""
        self.running, self.rung = True, False
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            work()
        except TimeUpError:
            return "in time"
        except Exception as error:  # noqa: BLE001 (whatever a library fails with)
            # Hypothesis takes the alarm for a fault of the strategy.
            return "in time" if self.rung else type(error).__name__
        else:
            return "in time"
        finally:
            self.running = False
            signal.setitimer(signal.ITIMER_REAL, 0)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError("a generator has no network")


def _answer(alarm: _Alarm, fill: Fill, task: Task) -> dict[str, Any]:
    values: list[Any] = []
    start = time.perf_counter()
    ended = alarm.run(task["seconds"], lambda: fill(task, values.append))
    seconds = min(time.perf_counter() - start, task["seconds"])
    # Writing is not generating: the clock has stopped.
    texts = dict.fromkeys(text for text in map(_text, values) if text is not None)
    return {"values": list(texts), "seconds": seconds, "ended": ended}


def _text(value: object) -> str | None:
    """Return a value's JSON text; None where it is not a JSON value."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None


def serve(version: str, fill: Fill, warming: float = _WARM) -> None:
    """Print the version after warming up, then answer every task until stdin ends.

    Args:
        version: The generator's version.
        fill: The generator.
        warming: Seconds of generation before the first task; not measured.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What a library prints is no answer.
    socket.socket.connect = _refuse  # type: ignore[method-assign] # for the whole process
    alarm = _Alarm()
    _answer(alarm, fill, {**_WARMING, "seconds": warming})
    print(json.dumps({"version": version}), file=answers, flush=True)
    for line in sys.stdin:
        answer = _answer(alarm, fill, json.loads(line))
        print(json.dumps(answer), file=answers, flush=True)
