"""One child process that answers requests, and is replaced when it dies."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from typing import Self

import msgspec

from curation.system.errors import CsbdataError, TemporarilyUnavailable
from curation.workers.limits import Ending, Limits, Message, ProcessResult, decode_line
from curation.workers.process import Child, Program, exchange

#: Seconds between two looks at the child's memory.
_SAMPLE = 0.1
#: Starts of one worker that may fail by accident before it is a fault.
_STARTS = 3


class WorkerDidNotStart(CsbdataError):  # noqa: N818 (as in system.errors)
    """A worker cannot be started at all: a fault of the installation, not of data."""


class WorkerStartsTooSlowly(WorkerDidNotStart):
    """A worker was not ready in time: most often the machine is busy with others."""

    exit_code = TemporarilyUnavailable.exit_code


class Worker:
    """One child process, started when needed and again after its death.

    Example:
        >>> with Worker(Program(file=Path("my_worker.py"))) as worker:
        ...     result = worker.ask({"schema": "{}"}, seconds=5.0)
        ...     print(result.ending, result.answer)
    """

    def __init__(self, program: Program, limits: Limits | None = None) -> None:
        """Say what to run; nothing is started yet."""
        self._program = program
        self._limits = limits or Limits()
        self._child: Child | None = None
        self._ready = False
        self._answered = 0
        #: Seconds of the requests without an answer.
        self._deadlines: deque[float] = deque()
        self._clock = 0.0
        #: Seconds by which the present request's deadline was moved, as its processor
        #: time was not used up; and the child's processor time when it was begun, with
        #: its time of waiting for a core.
        self._lent = 0.0
        self._begun: tuple[float, float] | None = None
        self._sampled = 0.0
        self._memory_ceiling = 0
        self._batches = 0
        self._failed_starts = 0
        #: What has come since `collect` was called last.
        self._results: list[ProcessResult] = []
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
        """Start the child if it is not running, and wait until it is ready.

        Raises:
            WorkerDidNotStart: it cannot be started.
        """
        self._retire()
        self.launch()
        while not self._ready:
            self.wait()

    def launch(self) -> Child:
        """Start the child if it is not running, and let it get ready meanwhile.

        Raises:
            OSError: the interpreter cannot be run.
        """
        if self._child is None:
            self._child = Child(self._program)
            self._ready, self._batches = False, 0
            self._begin_request(time.monotonic())
            limits = {
                "memory_bytes": self._limits.memory_mb * 2**20,
                "file_bytes": self._limits.file_mb * 2**20,
                "open_files": self._limits.open_files,
            }
            greeting = {
                "setup": self._program.setup,
                "limits": limits,
                "parent": os.getpid(),
            }
            self._child.send(msgspec.json.encode(greeting))
        return self._child

    def ask(self, request: Message, seconds: float | None = None) -> ProcessResult:
        """Send one request and wait for its result.

        Raises:
            WorkerDidNotStart: the worker cannot be started.
        """
        self.start()
        self.begin([request], seconds)
        while True:
            results = self.wait()
            if results:
                return results[0]

    def wait(self, seconds: float | None = None) -> list[ProcessResult]:
        """Wait for something to happen, at most this long; return the new results.

        Raises:
            WorkerDidNotStart: the worker cannot be started.
        """
        child, longest = self.launch(), self.seconds_to_wait()
        exchange([child], longest if seconds is None else min(seconds, longest))
        return self.collect()

    def begin(
        self,
        requests: Sequence[Message],
        seconds: float | Sequence[float] | None = None,
    ) -> None:
        """Hand over requests; `collect` returns their results, in order.

        If the process died of one, the requests after it are lost: hand them over
        again.

        Args:
            requests: What the worker's function is given, one after the other.
            seconds: The deadline of every request, or one for each of them; the
                limits' by default, and in the same kind of time.
        """
        self._retire()
        child = self.launch()
        limit = self._limits.seconds if seconds is None else seconds
        if isinstance(limit, int | float):
            limit = [limit] * len(requests)
        self._deadlines, self._answered = deque(limit), 0
        self._batches += 1
        # The seconds of a child's start count from here.
        self._begin_request(time.monotonic())
        child.send(msgspec.json.encode({"requests": requests}))

    def seconds_to_wait(self) -> float:
        """Return for how many seconds nothing has to be looked at."""
        return max(0.0, min(self._deadline() - time.monotonic(), _SAMPLE))

    def starting_seconds(self) -> float:
        """Return for how long the child has been starting; 0 where none is."""
        if self._child is None or self._ready:
            return 0.0
        return time.monotonic() - self._clock

    def extend_deadline(self, seconds: float) -> None:
        """Do not count seconds during which the parent was busy elsewhere."""
        self._clock += seconds

    def collect(self) -> list[ProcessResult]:
        """Return the results that have come since the last call.

        Raises:
            WorkerDidNotStart: the child could not be started.
        """
        child = self._child
        while child is not None and child.lines and self._child is child:
            self._take(child.lines.popleft())
        if self._child is not None:
            self._look_after(self._child)
        results, self._results = self._results, []
        return results

    def close(self) -> None:
        """End the child, if there is one; an idle one may finish by itself."""
        self.kill(let_it_finish=self._ready and not self._deadlines)

    def kill(self, *, let_it_finish: bool = False) -> None:
        """End the child without waiting for its work."""
        child, self._child, self._ready = self._child, None, False
        if child is not None:
            child.stop(let_it_finish=let_it_finish)

    def _retire(self) -> None:
        if self._batches >= self._limits.recycle_after:
            self.close()

    def _seconds_for_one(self) -> float:
        if not self._ready:
            return self._limits.start_seconds
        return self._deadlines[0] if self._deadlines else float("inf")

    def _deadline(self) -> float:
        return self._clock + self._seconds_for_one() + self._lent

    def _begin_request(self, now: float) -> None:
        self._clock, self._lent, self._begun = now, 0.0, None

    def _time_out(self, child: Child) -> ProcessResult | None:
        """Return why a request is late, and by which clock.

        None if it has processor time left; then its deadline is moved.
        """
        seconds = self._seconds_for_one()
        late = ProcessResult(
            ending=Ending.TIMEOUT, detail=f"no answer within {seconds:g} s"
        )
        if self._limits.wall_times <= 1 or not self._ready:
            return late._replace(by_wall_clock=True)
        processor, waiting = self._note_begin(child)
        used = child.processor_seconds() - processor
        if used >= seconds:
            return late._replace(detail=f"{late.detail} of processor time")
        most = seconds * self._limits.wall_times
        remaining = self._clock + most - time.monotonic()
        if remaining <= 0:
            waited = child.waiting_seconds() - waiting
            detail = f"no answer within {most:g} s by the wall clock, of which it had "
            return late._replace(
                detail=f"{detail}{used:.2g} s of processor time",
                by_wall_clock=True,
                for_want_of_core=2 * waited > most - used,
            )
        self._lent += min(max(seconds - used, _SAMPLE), remaining)
        return None

    def _note_begin(self, child: Child) -> tuple[float, float]:
        if self._begun is None:
            self._begun = child.processor_seconds(), child.waiting_seconds()
        return self._begun

    def _take(self, line: bytes) -> None:
        message = decode_line(line)
        if not self._ready and message.failed is not None:
            self.kill()
            raise WorkerDidNotStart(message.failed, self._program.name)
        if not self._ready and message.ready and self._child is not None:
            self._ready, self._failed_starts = True, 0
            self._begin_request(time.monotonic())
            self.rss_bytes = self._child.rss_bytes()
            self._memory_ceiling = self.rss_bytes + self._limits.memory_mb * 2**20
        elif self._ready and self._deadlines and message.request == self._answered:
            now = time.monotonic()
            seconds = now - self._clock
            self._begin_request(now)
            self._deadlines.popleft()
            self._answered += 1
            ending, text, detail = Ending.OK, b"null", ""
            if message.answer is not msgspec.UNSET:
                text = bytes(message.answer)
            elif message.memory is None:
                ending, detail = Ending.ERROR, str(message.error)
            else:
                self.kill()
                ending, detail = Ending.OUT_OF_MEMORY, message.memory
            self._results.append(
                ProcessResult(ending=ending, text=text, detail=detail, seconds=seconds)
            )
        else:
            start = line[:200].decode("utf-8", "replace")
            self._end(Ending.PROTOCOL, f"not an answer: {start}")

    def _look_after(self, child: Child) -> None:
        """End a child that is dead, late, too large or talks without end."""
        now = time.monotonic()
        if child.ended:
            self._end_by(child.cause_of_death())
        elif child.unfinished > self._limits.answer_bytes:
            detail = f"an answer of over {self._limits.answer_bytes:,} bytes"
            self._end(Ending.PROTOCOL, detail)
        elif not self._results and now >= self._deadline():
            late = self._time_out(child)
            if late is not None:
                self._end_by(late)
        elif now - self._sampled >= _SAMPLE:
            self._sampled = now
            self.rss_bytes = child.rss_bytes()
            if self._limits.wall_times > 1:
                self._note_begin(child)
            if self._ready and self.rss_bytes > self._memory_ceiling:
                detail = f"grew by more than {self._limits.memory_mb} MiB"
                self._end(Ending.OUT_OF_MEMORY, detail)

    def _end(self, ending: Ending, detail: str) -> None:
        self._end_by(ProcessResult(ending=ending, detail=detail))

    def _end_by(self, end: ProcessResult) -> None:
        """End the child; the request that it was on gets the blame."""
        child, was_ready = self._child, self._ready
        self.kill()
        printed = child.last_output if child is not None else ""
        if was_ready and self._deadlines:
            seconds = time.monotonic() - self._clock
            self._deadlines.clear()
            self._results.append(end._replace(stderr=printed, seconds=seconds))
        elif not was_ready:
            self._failed_starts += 1
            file, message = self._program.name, f"{end.detail} {printed}"
            if end.ending is Ending.TIMEOUT:
                hint = "run the command again when the machine is less busy"
                raise WorkerStartsTooSlowly(message, file, hint)
            if self._failed_starts >= _STARTS:
                raise WorkerDidNotStart(message, file)
