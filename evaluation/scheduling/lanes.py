"""The lanes of a run: workers of engines, here or on the nodes of a cluster.

How cases are handed out (`engine_by_engine`, `turns`) does not depend on where the
workers are; what a lane returns is made by `EngineWorker` in either place.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from curation.workers.process import exchange
from evaluation.execution.engine_worker import EngineWorker
from evaluation.setup.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from curation.core.json_types import Json
    from evaluation.core.cases import Case, Row
    from evaluation.execution.engine_worker import PendingCase
    from evaluation.execution.plan import RunPlan
    from evaluation.setup.selected_engines import EngineUnderTest


class EngineLane(Protocol):
    """A worker of one engine, and the cases that it was given, in order."""

    @property
    def idle(self) -> bool:
        """Whether every case given has its row."""

    @property
    def takes_more(self) -> bool:
        """Whether it should be given cases now."""

    def __enter__(self) -> Self:
        """Return the lane."""

    def __exit__(self, *_: object) -> None:
        """End the worker."""

    def start(self) -> None:
        """Start the worker if it is not, and do not wait until it is ready."""

    def give(self, cases: Iterable[PendingCase]) -> None:
        """Hand over cases; `collect` returns their rows, in order."""

    def collect(self) -> list[tuple[Case, Row]]:
        """Return the cases that have become complete since the last call.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """

    def close(self) -> None:
        """End the worker."""


class EngineLanes(Protocol):
    """Where the workers of a run are."""

    def places(self, participants: Sequence[EngineUnderTest]) -> Sequence[int]:
        """Return the numbers of the places at which all these engines can be run.

        Raises:
            WorkerDidNotStart: there is none; says which engine is nowhere.
        """

    def open(
        self, participant: EngineUnderTest, place: int, sharing: int = 1
    ) -> EngineLane:
        """Return a lane of an engine; it is not started yet.

        Args:
            participant: The engine.
            place: One of `places`.
            sharing: How many lanes take turns at the place.
        """

    def wait(self, lanes: Sequence[EngineLane]) -> None:
        """Wait until something happens in one of the lanes that are not idle."""

    def off_timed_cores(self) -> AbstractContextManager[None]:
        """Keep this process off the cores on which times are taken, in a block."""

    def header(self) -> dict[str, Json]:
        """Return what the run's header says of them."""


class LocalLane:
    """A child process of this one."""

    def __init__(self, worker: EngineWorker) -> None:
        """Take the worker, which is not started yet."""
        self.worker = worker

    @property
    def idle(self) -> bool:
        """Whether every case given has its row."""
        return self.worker.idle

    @property
    def takes_more(self) -> bool:
        """Whether it should be given cases now."""
        return self.worker.idle

    def __enter__(self) -> Self:
        """Return the lane."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker."""
        self.close()

    def start(self) -> None:
        """Start the process, and do not wait until it is ready."""
        if self.worker.child is None and self.worker.idle:
            self.worker.start()

    def give(self, cases: Iterable[PendingCase]) -> None:
        """Hand over cases."""
        self.worker.give(cases)

    def collect(self) -> list[tuple[Case, Row]]:
        """Return the cases that have become complete since the last call."""
        return self.worker.collect()

    def close(self) -> None:
        """Kill the worker and remove its files."""
        self.worker.close()


class LocalLanes:
    """Child processes, a core each."""

    def __init__(
        self, plan: RunPlan, say: Callable[[str], None] = lambda _message: None
    ) -> None:
        """Take what decides the workers.

        Args:
            plan: Says how many there are, and whether their times are results.
            say: Is told what a person may want to know at once.
        """
        self._plan = plan
        self._say = say
        #: All cores that the run may use.
        self._own = usable_cores()

    def places(self, participants: Sequence[EngineUnderTest]) -> Sequence[int]:  # noqa: ARG002 - what is here is here for all
        """Return the numbers of all workers."""
        return range(self._plan.jobs)

    def open(
        self,
        participant: EngineUnderTest,
        place: int,
        sharing: int = 1,  # noqa: ARG002 - nothing is reserved here
    ) -> LocalLane:
        """Return a lane, on a core of its own where times are taken."""
        cores = timed_cores(self._own, participant, place) if self._plan.timed else ()
        plan = self._plan
        return LocalLane(
            EngineWorker(participant, plan.tokenizer, plan.bounds, cores, self._say)
        )

    def wait(self, lanes: Sequence[EngineLane]) -> None:
        """Wait until a child says something, or a deadline passes."""
        workers = [lane.worker for lane in lanes if isinstance(lane, LocalLane)]
        children = [worker.child for worker in workers if worker.child is not None]
        exchange(children, min(worker.patience() for worker in workers))

    @contextmanager
    def off_timed_cores(self) -> Iterator[None]:
        """Keep this process off the cores on which times are taken."""
        own, plan = self._own, self._plan
        left = set(own) - {core_of(own, place) for place in range(plan.jobs)}
        if not left or not plan.timed or not hasattr(os, "sched_setaffinity"):
            yield
            return
        os.sched_setaffinity(0, left)
        try:
            yield
        finally:
            os.sched_setaffinity(0, set(own))

    def header(self) -> dict[str, Json]:
        """Return what the run's header says of them."""
        return {"name": "local"}


def core_of(own: Sequence[int], place: int) -> int:
    """Return the core of a place: from the last one down."""
    return own[-1 - place % len(own)]


def timed_cores(
    own: Sequence[int], participant: EngineUnderTest, place: int
) -> tuple[int, ...]:
    """Return the cores that a worker whose times count is kept on.

    Args:
        own: All cores that the run may use.
        participant: Its engine; one that chooses its threads itself has them all.
        place: Which of the workers it is.
    """
    return tuple(own) if participant.chooses_its_threads else (core_of(own, place),)
