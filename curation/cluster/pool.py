"""A pool whose workers are child processes of actors, over all nodes.

Each lane has a `curation.workers.pool.Pool` of one worker on its node: what a unit
that hangs, crashes or eats memory comes to is decided there, as on one machine.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

from curation.cluster.lanes import Lane, wait_for_any
from curation.workers.pool import BatchResult, Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from curation.cluster.nodes import Place
    from curation.cluster.ray_cluster import RayCluster
    from curation.workers.limits import Limits
    from curation.workers.messages import Message
    from curation.workers.outcomes import ProcessResult
    from curation.workers.process import Program

_PACKAGES = Path(__file__).resolve().parents[2]
#: Seconds after which Ctrl-C is listened to.
_TURN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSetup:
    """What a lane's pool is made of."""

    program: Program
    #: Of the program's file: its path below the packages, where it is one of ours.
    ours: str | None
    #: Whether the program runs in the Python that we run in.
    own_python: bool
    limits: Limits | None
    attempts: int

    @classmethod
    def of(cls, program: Program, limits: Limits | None, attempts: int) -> PoolSetup:
        """Return the set-up of a program as it is found on any node."""
        inside = program.file.resolve().is_relative_to(_PACKAGES)
        return cls(
            program=program,
            ours=str(program.file.resolve().relative_to(_PACKAGES)) if inside else None,
            own_python=program.interpreter == sys.executable,
            limits=limits,
            attempts=attempts,
        )

    def program_here(self) -> Program:
        """Return the program where this is called."""
        found = self.program
        if self.ours is not None:
            found = replace(found, file=_PACKAGES / self.ours)
        return replace(found, interpreter=sys.executable) if self.own_python else found


@dataclass(frozen=True, slots=True)
class PoolAnswer:
    """What came of a batch, and the most memory that the lane has taken, in MiB."""

    results: tuple[ProcessResult, ...]
    peak_rss_mb: float


class PoolSession:
    """One worker on a node, over the batches of its lane."""

    def __init__(self, setup: PoolSetup) -> None:
        """Prepare the worker."""
        self._pool = Pool(
            setup.program_here(),
            jobs=1,
            limits=setup.limits,
            attempts=setup.attempts,
        )

    def answer(self, task: Sequence[Message]) -> PoolAnswer:
        """Return the results of a batch; of an empty one, the worker is started.

        Raises:
            WorkerDidNotStart: the worker cannot be started.
        """
        if not task:
            self._pool.__enter__()
        (done,) = self._pool.run_batches([task])
        return PoolAnswer(done.results, self._pool.peak_rss_mb)

    def close(self) -> None:
        """Kill the worker."""
        self._pool.close()


class ClusterPool:
    """Workers on the nodes of a cluster over a list of batches, as `Pool` is here."""

    def __init__(
        self, cluster: RayCluster, places: Sequence[Place], setup: PoolSetup
    ) -> None:
        """Prepare; no lane is opened before the block is entered."""
        self._cluster = cluster
        self._places = places
        self._setup = setup
        self._lanes: list[Lane[PoolSetup, Sequence[Message], PoolAnswer]] = []
        #: The batches that each lane was given, None for the one that starts it.
        self._given: list[deque[int | None]] = []
        self._peaks: dict[int, float] = {}

    @property
    def peak_rss_mb(self) -> float:
        """This process's memory with the largest of every lane, in MiB."""
        own = psutil.Process().memory_info().rss / 2**20
        return round(own + sum(self._peaks.values()), 1)

    def __enter__(self) -> Self:
        """Have the workers get ready meanwhile; return the pool."""
        self._open_lanes()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all lanes."""
        self.close()

    def close(self) -> None:
        """End all lanes."""
        for lane in self._lanes:
            lane.close()
        self._lanes.clear()

    def run_batches(
        self, batches: Iterable[Sequence[Message]]
    ) -> Iterator[BatchResult]:
        """Yield the result of every batch as it is completed.

        Raises:
            WorkerDidNotStart: a worker cannot be started.
            TemporarilyUnavailable: no node is left (exit 75).
        """
        self._open_lanes()
        waiting = enumerate(batches)
        exhausted = False
        while True:
            while not exhausted and (free := self._free_lane()) is not None:
                found = next(waiting, None)
                exhausted = found is None
                if found is not None:
                    self._given[free].append(found[0])
                    self._lanes[free].give(found[1])
            if exhausted and not any(map(_has_batch, self._given)):
                return
            wait_for_any(self._cluster, self._lanes, _TURN)
            for number, lane in enumerate(self._lanes):
                for answer in lane.collect():
                    self._peaks[number] = answer.peak_rss_mb
                    index = self._given[number].popleft()
                    if index is not None:
                        yield BatchResult(index=index, results=answer.results)

    def _open_lanes(self) -> None:
        """Open the lanes that are not open, and have each start its worker."""
        if self._lanes:
            return
        shared = self._cluster.share(self._setup)
        self._lanes = [
            Lane(self._cluster, place, PoolSession, shared) for place in self._places
        ]
        self._given = [deque([None]) for _ in self._lanes]
        for lane in self._lanes:
            lane.give(())

    def _free_lane(self) -> int | None:
        """Return a lane that takes a batch, an idle one first; None if none does."""
        idle = [number for number, lane in enumerate(self._lanes) if lane.idle]
        if idle:
            return idle[0]
        return next(
            (number for number, lane in enumerate(self._lanes) if lane.takes_more),
            None,
        )


def _has_batch(given: Iterable[int | None]) -> bool:
    """Return whether a batch is among what a lane was given and has not answered."""
    return any(index is not None for index in given)
