"""Work in child processes: their death is an outcome of the request.

A request that hangs, crashes its process or exceeds its memory gets that as its
`ProcessResult`; the rest of its batch continues in a fresh process. The parent enforces
deadlines by a signal: a native loop cannot be stopped from inside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import psutil

from curation.workers.limits import Ending, Limits, Message, ProcessResult
from curation.workers.process import Program, exchange
from curation.workers.worker import Worker

T = TypeVar("T")


def in_batches(
    items: Iterable[T], weight: Callable[[T], int], *, most: int, heaviest: int
) -> Iterator[list[T]]:
    """Yield the items in order, in batches, none of which is empty.

    Args:
        items: What is cut.
        weight: The weight of a item, such as its length in bytes.
        most: Items after which a batch ends.
        heaviest: A batch ends as well once it reaches this weight.

    Example:
        >>> list(in_batches(["a", "bcd", "e"], len, most=2, heaviest=4))
        [['a', 'bcd'], ['e']]
    """
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += weight(item)
        if len(batch) >= most or total >= heaviest:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


#: Seconds between two looks at the memory of all.
_SAMPLE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The results of one batch, one for each request, in the requests' order."""

    #: Position of the batch among those given.
    index: int
    results: tuple[ProcessResult, ...]


@dataclass(slots=True)
class _Task:
    index: int
    requests: Sequence[Message]
    results: list[ProcessResult] = field(default_factory=list)
    #: Times that the next request has killed a worker.
    deaths: int = 0

    def done(self) -> bool:
        return len(self.results) == len(self.requests)


class Pool:
    """Several workers over a list of batches.

    A request of which a worker died is tried again in a fresh process first, so its
    result does not depend on the number of workers.

    Example:
        >>> with Pool(Program(file=Path("my_worker.py")), jobs=2) as pool:
        ...     for batch in pool.run_batches([[1, 2], [3]]):
        ...         print(batch.index, [result.answer for result in batch.results])
    """

    def __init__(
        self,
        program: Program,
        *,
        jobs: int,
        limits: Limits | None = None,
        attempts: int = 2,
    ) -> None:
        """Prepare the workers; none is started before the block is entered.

        Args:
            program: What each worker runs.
            jobs: Number of workers; one at least.
            limits: What one worker and one request may use.
            attempts: Workers that a request may kill before it is blamed.
        """
        self._workers = [Worker(program, limits) for _ in range(max(1, jobs))]
        self._attempts = attempts
        #: Largest resident memory seen, the parent's and the children's together.
        self.peak_rss_mb = 0.0
        self._next_sample = 0.0

    def __enter__(self) -> Self:
        """Start the workers, so that they get ready meanwhile; return the pool.

        Raises:
            OSError: the interpreter cannot be run.
        """
        try:
            for worker in self._workers:
                worker.launch()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all children."""
        self.close()

    def close(self) -> None:
        """Kill all children."""
        for worker in self._workers:
            worker.kill()

    def run_batches(
        self, batches: Iterable[Sequence[Message]]
    ) -> Iterator[BatchResult]:
        """Yield the result of every batch as it is completed; order by `index`.

        One batch is read ahead, so that a worker need not wait for the caller.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
        """
        waiting = (_Task(index, requests) for index, requests in enumerate(batches))
        ahead = next(waiting, None)
        busy: dict[Worker, _Task] = {}
        finished: list[BatchResult] = []
        try:
            while busy or ahead is not None or finished:
                idle = [worker for worker in self._workers if worker not in busy]
                if ahead is not None and idle:
                    busy[idle[0]] = ahead
                    self._resume(idle[0], ahead)
                    ahead = None
                paused = time.monotonic()
                yield from finished
                finished = []
                if ahead is None:
                    ahead = next(waiting, None)
                for worker in busy:
                    worker.extend_deadline(time.monotonic() - paused)
                if busy and (ahead is None or len(busy) == len(self._workers)):
                    finished = self._turn(busy)
        except BaseException:
            self.close()
            raise

    def _resume(self, worker: Worker, task: _Task) -> None:
        if not task.done():
            worker.begin(task.requests[len(task.results) :])

    def _turn(self, busy: dict[Worker, _Task]) -> list[BatchResult]:
        """Wait for something to happen; return the batches completed by it."""
        finished = []
        seconds = min(worker.seconds_to_wait() for worker in busy)
        children = [worker.child for worker in busy if worker.child is not None]
        if not any(task.done() for task in busy.values()):
            exchange(children, seconds)
        for worker, task in list(busy.items()):
            if not task.done():
                self._take_results(worker, task)
            if task.done():
                del busy[worker]
                finished.append(
                    BatchResult(index=task.index, results=tuple(task.results))
                )
        if time.monotonic() >= self._next_sample:
            self._next_sample = time.monotonic() + _SAMPLE
            total = sum(worker.rss_bytes for worker in self._workers)
            total += psutil.Process().memory_info().rss
            self.peak_rss_mb = max(self.peak_rss_mb, round(total / 2**20, 1))
        return finished

    def _take_results(self, worker: Worker, task: _Task) -> None:
        """Take a worker's results; start again after a request of which it died."""
        for result in worker.collect():
            died = result.ending not in (Ending.OK, Ending.ERROR)
            task.deaths += died
            if died and task.deaths < self._attempts:
                continue
            task.deaths = 0
            task.results.append(result)
        if worker.child is None:
            self._resume(worker, task)
