"""The lanes of a run on the nodes of a Ray cluster: an actor each.

An actor keeps its engine's process, and with it tokenizer and compiler, from batch to
batch. The process stands inside the actor: its death is a row, never a lost actor.
"""

from __future__ import annotations

from collections import deque
from contextlib import nullcontext
from typing import TYPE_CHECKING, Self

from curation.cluster.lanes import Lane, wait_for_any
from curation.workers.worker import WorkerDidNotStart
from evaluation.scheduling.remote_engine import (
    RemoteEngine,
    RemoteEngineSetup,
    SentEngine,
    look_for_engines,
    packed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from curation.cluster.executor import RayExecutor
    from curation.core.json_types import Json
    from evaluation.core.cases import Case, Row
    from evaluation.execution.engine_worker import PendingCase
    from evaluation.execution.plan import RunPlan
    from evaluation.scheduling.lanes import EngineLane
    from evaluation.setup.selected_engines import EngineUnderTest

#: Seconds after which Ctrl-C is listened to.
_TURN = 1.0


class ClusterLane:
    """An engine's worker in an actor."""

    def __init__(
        self,
        open_lane: Callable[[], Lane[RemoteEngineSetup, list[PendingCase], list[Row]]],
    ) -> None:
        """Take what opens the lane, once it has something to do."""
        self._open_lane = open_lane
        self.lane: Lane[RemoteEngineSetup, list[PendingCase], list[Row]] | None = None
        self._cases: deque[Case] = deque()

    @property
    def idle(self) -> bool:
        """Whether every case given has its row."""
        return not self._cases

    @property
    def takes_more(self) -> bool:
        """Whether it should be given cases now."""
        return self.lane is None or self.lane.takes_more

    def __enter__(self) -> Self:
        """Return the lane."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker."""
        self.close()

    def start(self) -> None:
        """Start the worker if it is not, and do not wait until it is ready."""
        if self.lane is None:
            self.lane = self._open_lane()
            self.lane.give([])

    def give(self, cases: Iterable[PendingCase]) -> None:
        """Hand over cases."""
        given = list(cases)
        if self.lane is None:
            self.lane = self._open_lane()
        self._cases.extend(pending.case for pending in given)
        self.lane.give(given)

    def collect(self) -> list[tuple[Case, Row]]:
        """Return the cases that have become complete since the last call.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
            TemporarilyUnavailable: no node is left (exit 75).
        """
        if self.lane is None:
            return []
        rows = [row for answer in self.lane.collect() for row in answer]
        return [(self._cases.popleft(), row) for row in rows]

    def close(self) -> None:
        """End the actor."""
        lane, self.lane = self.lane, None
        self._cases.clear()
        if lane is not None:
            lane.close()


class ClusterLanes:
    """Actors on the nodes of a cluster, a CPU each."""

    def __init__(
        self,
        executor: RayExecutor,
        plan: RunPlan,
        participants: Sequence[EngineUnderTest],
        say: Callable[[str], None],
    ) -> None:
        """Ask every node for the engines; those it lacks are not put to it.

        Raises:
            Unavailable: a node gives no answer (exit 69).
        """
        self._executor = executor
        self._cluster = executor.cluster
        self._plan = plan
        self._tokenizer = packed(plan.tokenizer)
        sent = [SentEngine.of(participant) for participant in participants]
        self._sent = {engine.label: engine for engine in sent}
        found = self._cluster.on_every_node(look_for_engines, sent)
        self._lacking = {node: lacking for node, (lacking, _) in found.items()}
        self._machines = [machine for _, machine in found.values()]
        for node in self._cluster.nodes:
            for label, why in self._lacking[node.id].items():
                say(f"node {node.name} has no {label} ({why}); others do its work")

    def places(self, participants: Sequence[EngineUnderTest]) -> Sequence[int]:
        """Return the numbers of the lanes whose node has all these engines.

        Raises:
            WorkerDidNotStart: no node has them all; says why.
        """
        labels = {participant.label for participant in participants}
        found = [
            number
            for number, place in enumerate(self._executor.places)
            if not labels & self._lacking[place.node.id].keys()
        ]
        if not found:
            node = self._executor.places[0].node
            label = min(labels & self._lacking[node.id].keys())
            raise WorkerDidNotStart(
                f"no node of the cluster can run it; on {node.name}: "
                f"{self._lacking[node.id][label]}"
            )
        return found

    def open(
        self, participant: EngineUnderTest, place: int, sharing: int = 1
    ) -> ClusterLane:
        """Return a lane; lanes that share a place share its CPU."""
        where = self._executor.places[place]
        setup = RemoteEngineSetup(
            engine=self._sent[participant.label],
            tokenizer_name=self._plan.tokenizer.name,
            tokenizer=self._tokenizer,
            bounds=self._plan.bounds,
            timed_place=where.index if self._plan.timed else None,
        )

        def opened() -> Lane[RemoteEngineSetup, list[PendingCase], list[Row]]:
            shared = self._cluster.share(setup)
            return Lane(self._cluster, where, RemoteEngine, shared, 1 / sharing)

        return ClusterLane(opened)

    def wait(self, lanes: Sequence[EngineLane]) -> None:
        """Wait until a lane has an answer, or is lost."""
        own = [lane.lane for lane in lanes if isinstance(lane, ClusterLane)]
        wait_for_any(self._cluster, [lane for lane in own if lane is not None], _TURN)

    def off_timed_cores(self) -> AbstractContextManager[None]:
        """Do nothing: this process may not even be on a machine with lanes."""
        return nullcontext()

    def header(self) -> dict[str, Json]:
        """Return what the run's header says: nodes, their machines, who else is there.

        Times of nodes that are not `exclusive` are those of shared machines.
        """
        used = {place.node.id: place.node for place in self._executor.places}
        return {
            "name": "ray",
            "workers": len(self._executor.places),
            "nodes": len(used),
            "exclusive": all(node.exclusive for node in used.values()),
            "machines": [*self._machines],
        }
