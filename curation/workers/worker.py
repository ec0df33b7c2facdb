"""One child process that is asked questions, and is replaced when it dies."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Self

import orjson

from curation.system.errors import CsbdataError
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending, ProcessResult, post_mortem
from curation.workers.process import Child, Program, exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson

#: Seconds between two looks at the child's memory.
_SAMPLE = 0.1
#: Starts of one worker that may fail by accident before it is a fault.
_STARTS = 3


class WorkerDidNotStart(CsbdataError):  # noqa: N818 (as in system.errors)
    """A worker cannot be started at all: a fault of the installation, not of data."""


class Worker:
    """One child process, started when needed and again after its death."""

    def __init__(self, program: Program, limits: Limits | None = None) -> None:
        """Say what to run; nothing is started yet."""
        self._program = program
        self._limits = limits or Limits()
        self._child: Child | None = None
        self._ready = False
        self._pending = 0
        self._answered = 0
        self._deadlines: Sequence[float] = ()
        self._clock = 0.0
        self._sampled = 0.0
        self._memory_ceiling = 0
        self._batches = 0
        self._failed_starts = 0
        #: Resident bytes at the last look.
        self.rss_bytes = 0

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self.close()

    @property
    def child(self) -> Child | None:
        """The running process, for `exchange`."""
        return self._child

    def start(self) -> None:
        """Start the child if there is none, and wait until it is ready.

        Raises:
            WorkerDidNotStart: it cannot be started.
        """
        self._retire()
        self._ensure()
        while not self._ready:
            self.wait()

    def ask(self, unit: UntypedJson, seconds: float | None = None) -> ProcessResult:
        """Send one unit and wait for its outcome.

        Raises:
            WorkerDidNotStart: the worker cannot be started.
        """
        self.start()
        self.begin([unit], seconds)
        while True:
            outcomes = self.wait()
            if outcomes:
                return outcomes[0]

    def wait(self, seconds: float | None = None) -> list[ProcessResult]:
        """Wait for something to happen, at most so long; return what has come.

        Raises:
            WorkerDidNotStart: the worker cannot be started.
        """
        self._ensure()
        if self._child is not None:
            patience = self.patience()
            wanted = patience if seconds is None else min(seconds, patience)
            exchange([self._child], wanted)
        return self.collect()

    def begin(
        self,
        units: Sequence[UntypedJson],
        seconds: float | Sequence[float] | None = None,
    ) -> None:
        """Hand over units; `collect` returns their outcomes, in order.

        `seconds` is the deadline of every unit, or of one after the other. After an
        outcome of which the process died, the units behind it are lost and must be
        handed over again.
        """
        self._retire()
        child = self._ensure()
        each = self._limits.seconds if seconds is None else seconds
        self._deadlines = [each] * len(units) if isinstance(each, int | float) else each
        self._pending, self._answered = len(units), 0
        self._batches += 1
        if self._ready:
            self._clock = time.monotonic()
        child.send(orjson.dumps({"units": units}))

    def patience(self) -> float:
        """Return for how many seconds nothing has to be looked at."""
        return max(0.0, min(self._deadline() - time.monotonic(), _SAMPLE))

    def excuse(self, seconds: float) -> None:
        """Do not count seconds during which the parent was busy elsewhere."""
        self._clock += seconds

    def collect(self) -> list[ProcessResult]:
        """Return the outcomes that have come since the last call.

        Raises:
            WorkerDidNotStart: the child could not be started.
        """
        outcomes: list[ProcessResult] = []
        child = self._child
        while child is not None and child.lines and self._child is child:
            self._take(child.lines.popleft(), outcomes)
        if self._child is not None:
            self._look_after(self._child, outcomes, heard=bool(outcomes))
        return outcomes

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.stop(kindly=self._ready and not self._pending)

    def kill(self) -> None:
        """End the child without waiting for what it is doing."""
        child, self._child = self._child, None
        if child is not None:
            child.stop()

    def _retire(self) -> None:
        """End a child that has served long enough."""
        if self._batches >= self._limits.recycle_after:
            self.close()

    def _ensure(self) -> Child:
        if self._child is None:
            self._child = Child(self._program)
            self._ready, self._batches = False, 0
            self._clock = time.monotonic()
            greeting = {
                "setup": self._program.setup,
                "limits": self._limits.for_worker(),
                "parent": os.getpid(),
            }
            self._child.send(orjson.dumps(greeting))
        return self._child

    def _patience_for_one(self) -> float:
        if not self._ready:
            return self._limits.start_seconds
        return self._deadlines[self._answered] if self._pending else float("inf")

    def _deadline(self) -> float:
        return self._clock + self._patience_for_one()

    def _take(self, line: bytes, outcomes: list[ProcessResult]) -> None:
        """Read one line of the child."""
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            message = None
        if not isinstance(message, dict):
            message = {}
        if not self._ready and "failed" in message:
            self.kill()
            raise WorkerDidNotStart(str(message["failed"]), str(self._program.file))
        if not self._ready and message.get("ready") is True:
            self._become_ready()
        elif self._ready and self._pending and message.get("unit") == self._answered:
            outcomes.append(self._answer(message))
        else:
            text = line[:200].decode("utf-8", "replace")
            self._bury(outcomes, Ending.PROTOCOL, f"not an answer: {text}")

    def _become_ready(self) -> None:
        self._ready, self._failed_starts = True, 0
        self._clock = time.monotonic()
        if self._child is not None:
            self.rss_bytes = self._child.rss_bytes()
        self._memory_ceiling = self.rss_bytes + self._limits.memory_mb * 2**20

    def _answer(self, message: dict[str, UntypedJson]) -> ProcessResult:
        now = time.monotonic()
        seconds, self._clock = now - self._clock, now
        self._pending -= 1
        self._answered += 1
        if "answer" in message:
            return ProcessResult(
                ending=Ending.OK, answer=message["answer"], seconds=seconds
            )
        if "memory" in message:
            detail = str(message["memory"])
            self._discard()
            return ProcessResult(
                ending=Ending.OUT_OF_MEMORY, detail=detail, seconds=seconds
            )
        detail = str(message.get("error"))
        return ProcessResult(ending=Ending.ERROR, detail=detail, seconds=seconds)

    def _look_after(
        self, child: Child, outcomes: list[ProcessResult], *, heard: bool
    ) -> None:
        """See whether the child is dead, late, too large or talks without end."""
        if child.ended:
            ending, detail = post_mortem(child)
            self._bury(outcomes, ending, detail)
        elif child.unfinished > self._limits.answer_bytes:
            detail = f"an answer of over {self._limits.answer_bytes:,} bytes"
            self._bury(outcomes, Ending.PROTOCOL, detail)
        elif not heard and time.monotonic() >= self._deadline():
            detail = f"no answer within {self._patience_for_one():g} s"
            self._bury(outcomes, Ending.TIMEOUT, detail)
        elif time.monotonic() - self._sampled >= _SAMPLE:
            self._sampled = time.monotonic()
            self.rss_bytes = child.rss_bytes()
            if self._ready and self.rss_bytes > self._memory_ceiling:
                detail = f"grew by more than {self._limits.memory_mb} MiB"
                self._bury(outcomes, Ending.OUT_OF_MEMORY, detail)

    def _bury(self, outcomes: list[ProcessResult], ending: Ending, detail: str) -> None:
        """End the child; the unit that it was on gets the blame."""
        child, was_ready = self._child, self._ready
        self._discard()
        noise = child.noise if child is not None else ""
        if was_ready and self._pending:
            seconds = time.monotonic() - self._clock
            self._pending = 0
            outcomes.append(
                ProcessResult(
                    ending=ending, detail=detail, stderr=noise, seconds=seconds
                )
            )
        elif not was_ready:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                raise WorkerDidNotStart(f"{detail} {noise}", str(self._program.file))

    def _discard(self) -> None:
        self.kill()
        self._ready = False
