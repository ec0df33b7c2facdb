"""A lane: tasks that one session answers in turn, on a node that may be lost.

A lane whose node or process is lost is opened again on a node that is left, and what
it had not answered is given to it again. That is said; Ray itself tries nothing twice.
One that has a GPU is opened again only on its own node.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from curation.cluster.nodes import Place
from curation.cluster.ray_cluster import raise_fault
from curation.system.errors import CsbdataError, TemporarilyUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from curation.cluster.ray_cluster import RayCluster
    from curation.cluster.session import Session

_Shared = TypeVar("_Shared")
_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")
#: Tasks that a lane holds: while it answers one, the next is on its way.
_AHEAD = 2
#: Times that a lane may be lost with the same task.
_LOSSES = 3


class Lane(Generic[_Shared, _Task, _Answer]):
    """One session on one node, and the tasks that it was given."""

    def __init__(  # noqa: PLR0913, PLR0917 - where it stands, what it is, what it takes
        self,
        cluster: RayCluster,
        place: Place,
        open_session: Callable[[_Shared], Session[_Task, _Answer]],
        shared: object,
        cpus: float = 1.0,
        gpus: int = 0,
    ) -> None:
        """Open it; Ray starts the process by and by.

        Args:
            cluster: Where it stands.
            place: Its node.
            open_session: Returns the session; a function of a module.
            shared: What that is given, as `RayCluster.share` returned it.
            cpus: What it reserves of its node.
            gpus: GPUs that it reserves; the actor sees no others.
        """
        self._cluster = cluster
        self._open_session = open_session
        self._shared = shared
        self._gpus = gpus
        self._pending: deque[tuple[Any, _Task]] = deque()
        self._losses = 0
        self.place = place
        self._actor = cluster.open_actor(place, open_session, shared, cpus, gpus)

    @property
    def idle(self) -> bool:
        """Whether every task has its answer."""
        return not self._pending

    @property
    def takes_more(self) -> bool:
        """Whether it should be given a task now."""
        return len(self._pending) < _AHEAD

    @property
    def next_answer(self) -> Any:  # noqa: ANN401 - a reference of Ray
        """What stands for the answer that comes next; there must be one."""
        return self._pending[0][0]

    def give(self, task: _Task) -> None:
        """Hand over a task; `collect` returns its answer, in order."""
        self._pending.append((self._actor.answer.remote(task), task))

    def collect(self) -> list[_Answer]:
        """Return the answers that have come since the last call.

        Raises:
            CsbdataError: what the session has raised, or a task of which one lane
                after the other was lost.
            TemporarilyUnavailable: no node is left, or a GPU was lost (exit 75).
        """
        found: list[_Answer] = []
        ray = self._cluster.ray
        while self._pending and ray.wait([self.next_answer], timeout=0)[0]:
            try:
                answer = ray.get(self.next_answer)
            except ray.exceptions.RayTaskError as error:
                raise CsbdataError(f"{error.cause!r}", self.place.node.name) from error
            except ray.exceptions.RayError:
                self._open_again()
                break
            raise_fault(answer)
            self._pending.popleft()
            self._losses = 0
            found.append(answer)
        return found

    def close(self) -> None:
        """End the session, whatever it is doing."""
        idle = self.idle
        self._pending.clear()
        self._cluster.close_actor(self.place, self._actor, idle=idle)

    def _open_again(self) -> None:
        """Open the session on a node that is left, and give it what has no answer.

        Raises:
            CsbdataError: it was lost with this task too often.
            TemporarilyUnavailable: no node is left, or a GPU was lost.
        """
        self._losses += 1
        lost = self.place.node
        if self._losses >= _LOSSES:
            raise CsbdataError(
                f"lost {_LOSSES} workers with the same task",
                lost.name,
                "look at the memory of the nodes; the same command goes on",
            )
        left = self._cluster.living()
        others = [node for node in left if node.id != lost.id]
        if not left:
            raise TemporarilyUnavailable(
                "no node of the cluster is left", then="the same command goes on"
            )
        if self._gpus and len(others) == len(left):
            # Every GPU of another node has its own session already.
            raise TemporarilyUnavailable(
                "a node with a GPU was lost",
                lost.name,
                "the same command goes on with the GPUs that are left",
            )
        choice = [lost] if self._gpus else others or left
        node = min(choice, key=lambda other: (-other.cpus, other.name))
        self._cluster.say(
            f"node {lost.name} or its worker was lost; what it was on is done again "
            f"on {node.name}"
        )
        # What is left of the cluster may have no CPU to reserve.
        self.place = Place(node, self.place.index)
        self._actor = self._cluster.open_actor(
            self.place, self._open_session, self._shared, 0, self._gpus
        )
        tasks = [task for _, task in self._pending]
        self._pending.clear()
        for task in tasks:
            self.give(task)


def wait_for_any(
    cluster: RayCluster, lanes: Iterable[Lane[_Shared, _Task, _Answer]], seconds: float
) -> None:
    """Wait until a lane has an answer, or is lost; at most so long."""
    references = [lane.next_answer for lane in lanes if not lane.idle]
    if references:
        cluster.ray.wait(references, num_returns=1, timeout=seconds)
