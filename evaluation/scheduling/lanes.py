"""Start engine workers, on a core each where times are results."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from curation.workers.process import exchange
from evaluation.execution.engine_worker import EngineWorker
from evaluation.setup.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.execution.plan import RunPlan
    from evaluation.setup.selected_engines import EngineUnderTest


class WorkerCores:
    """The cores of a run; each engine worker is kept on one if times are results."""

    def __init__(
        self, plan: RunPlan, say: Callable[[str], None] = lambda _message: None
    ) -> None:
        """Take the plan.

        Args:
            plan: Says how many workers there are, and whether times are results.
            say: Called with messages about slow starts.
        """
        self._plan = plan
        self._say = say
        #: All cores that the run may use.
        self._usable = usable_cores()

    def worker(self, participant: EngineUnderTest, place: int) -> EngineWorker:
        """Return a worker of an engine, not yet started.

        Args:
            participant: The engine.
            place: Number of the worker, below `jobs`; decides its core.
        """
        plan = self._plan
        cores = self._timed_cores(participant, place) if plan.timed else ()
        return EngineWorker(participant, plan.tokenizer, plan.bounds, cores, self._say)

    @contextmanager
    def off_timed_cores(self) -> Iterator[None]:
        """Keep this process off the cores on which times are taken."""
        plan = self._plan
        free = set(self._usable) - {self._core(place) for place in range(plan.jobs)}
        if not free or not plan.timed or not hasattr(os, "sched_setaffinity"):
            yield
            return
        os.sched_setaffinity(0, free)
        try:
            yield
        finally:
            os.sched_setaffinity(0, set(self._usable))

    def _timed_cores(self, participant: EngineUnderTest, place: int) -> tuple[int, ...]:
        """Return all cores for an engine that chooses its threads, else one."""
        if participant.chooses_its_threads:
            return tuple(self._usable)
        return (self._core(place),)

    def _core(self, place: int) -> int:
        """Return the core of a place: from the last one down."""
        return self._usable[-1 - place % len(self._usable)]


def wait_for(workers: Sequence[EngineWorker]) -> None:
    """Wait until a worker's process says something, or a deadline passes."""
    children = [worker.child for worker in workers if worker.child is not None]
    exchange(children, min(worker.patience() for worker in workers))
