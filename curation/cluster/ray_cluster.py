"""A cluster that was joined: its nodes, checked, and the lanes that stand on them."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from curation.cluster.held_actors import HeldActors
from curation.cluster.nodes import (
    Installation,
    Node,
    check_same,
    installation,
)
from curation.cluster.ray_library import joined
from curation.cluster.session import SessionActor
from curation.system.errors import BadConfiguration, CsbdataError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.cluster.nodes import Place

_Asked = TypeVar("_Asked")
#: Seconds in which every node must say what is installed on it.
_ASK_SECONDS = 180.0


class LostNode(Unavailable):
    """A node that is no longer there."""


class RayCluster:
    """A cluster with its nodes; made by `joined_cluster`."""

    def __init__(
        self,
        ray: Any,  # noqa: ANN401 - see `ray_library`
        say: Callable[[str], None],
        stand: Callable[[Sequence[Node]], Sequence[Place]],
    ) -> None:
        """Check the nodes, and have the actors of all places started.

        Args:
            ray: The module of a driver that is connected.
            say: Is told what a person may want to know at once.
            stand: Returns where lanes will stand.
        """
        self.ray = ray
        self.say = say
        self._stand = stand
        self._held = HeldActors()
        #: The nodes that offer CPUs, and have what we have.
        self.nodes: list[Node] = []
        self.nodes = self._checked_nodes()

    @property
    def cpus(self) -> int:
        """The CPUs of all nodes."""
        return sum(node.cpus for node in self.nodes)

    def on_every_node(
        self, function: Callable[..., _Asked], *arguments: object
    ) -> Mapping[str, _Asked]:
        """Return what a function returns on each node, by the node's id.

        Raises:
            Unavailable: a node cannot run it, or does not answer (exit 69).
        """
        asked = self._ask(self.nodes, function, *arguments)
        return {node.id: self._told(node, asked[node.id]) for node in self.nodes}

    def _ask(
        self,
        nodes: Sequence[Node],
        function: Callable[..., object],
        *arguments: object,
    ) -> dict[str, object]:
        """Have all nodes work on a function; return what stands for their answers.

        Where a node has an actor of ours, that one does.
        """
        remote = self.ray.remote(function)
        asked = {}
        for node in nodes:
            actor = self._held.first_of(node)
            if actor is not None:
                asked[node.id] = actor.call.remote(function, *arguments)
                continue
            asked[node.id] = remote.options(
                num_cpus=0, max_retries=0, scheduling_strategy=self._pinned(node)
            ).remote(*arguments)
        return asked

    def share(self, value: object) -> object:
        """Put a value where every node can read it; return what stands for it."""
        return self.ray.put(value)

    def open_actor(
        self,
        place: Place,
        open_session: object,
        shared: object,
        cpus: float,
        gpus: int = 0,
    ) -> Any:  # noqa: ANN401 - see `ray_library`
        """Return an actor on a place with a session; Ray starts it by and by.

        The place's own is taken where it has what is asked for.
        """
        actor = None
        if gpus or cpus > 1:
            # Their CPUs may be those that are asked for.
            for unused in self._held.give_up(place.node):
                self.ray.kill(unused)
        else:
            actor = self._held.lend(place)
        if actor is None:
            # Who shares a place shares the CPU that its own actor holds.
            cpus = 0 if self._held.holds(place) and cpus <= 1 else cpus
            actor = self._started(place, cpus, gpus)
        actor.open.remote(open_session, shared)
        return actor

    def close_actor(self, place: Place, actor: Any, *, idle: bool) -> None:  # noqa: ANN401 - see `ray_library`
        """End an actor's session, and its process unless it is the place's own.

        Args:
            place: Where it was opened.
            actor: What `open_actor` has returned.
            idle: Whether it has answered everything; what it is doing is ended.
        """
        if idle and self._held.take_back(place, actor):
            actor.close.remote()
            return
        self._held.forget(place, actor)
        self.ray.kill(actor)

    def _started(self, place: Place, cpus: float, gpus: int = 0) -> Any:  # noqa: ANN401 - see `ray_library`
        """Return a new actor, to which Ray itself gives no task twice.

        A unit must not be measured twice unseen.
        """
        return (
            self.ray.remote(SessionActor)
            .options(
                num_cpus=cpus,
                num_gpus=gpus,
                max_restarts=0,
                max_task_retries=0,
                scheduling_strategy=self._pinned(place.node),
            )
            .remote()
        )

    def living(self) -> list[Node]:
        """Return the nodes that are still there."""
        alive = {found["NodeID"] for found in self.ray.nodes() if found["Alive"]}
        return [node for node in self.nodes if node.id in alive]

    def _pinned(self, node: Node) -> Any:  # noqa: ANN401 - see `ray_library`
        strategies = self.ray.util.scheduling_strategies
        return strategies.NodeAffinitySchedulingStrategy(node_id=node.id, soft=False)

    def _told(self, node: Node, reference: object) -> Any:  # noqa: ANN401 - what the function returned
        """Return what a node has answered.

        Raises:
            Unavailable: it cannot, or does not in time.
        """
        try:
            return self.ray.get(reference, timeout=_ASK_SECONDS)
        except self.ray.exceptions.GetTimeoutError as error:
            raise Unavailable(
                f"node {node.name} gives no answer within {_ASK_SECONDS:g} s",
                then="look at `ray status`, or take it out of the cluster",
            ) from error
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, Exception) else error
            raise _cannot_work(node, cause) from error
        except self.ray.exceptions.RayError as error:
            if getattr(error, "actor_init_failed", False):
                raise _cannot_work(node, error) from error
            raise LostNode(f"node {node.name} was lost") from error

    def _checked_nodes(self) -> list[Node]:
        """Return the nodes that offer CPUs, each seen to have what we have.

        Raises:
            BadConfiguration: one has other versions, or none offers a CPU (exit 78).
            Unavailable: one cannot be asked (exit 69).
        """
        there, idle = self._asked_nodes()
        here = installation()
        for node in self.nodes:
            check_same(here, there[node.id], node.name)
        return self._with_neighbours(there, idle=idle)

    def _asked_nodes(self) -> tuple[dict[str, Installation], bool]:
        """Return what the nodes that offer CPUs have, and whether no CPU was held.

        A node that has just been lost is left out. Where other work holds a CPU,
        nothing is started ahead: it might wait for that work's end.
        """
        offering = [
            Node(
                id=found["NodeID"],
                name=f"{found['NodeManagerAddress']} ({found['NodeID'][:6]})",
                cpus=int(found["Resources"].get("CPU", 0)),
                gpus=int(found["Resources"].get("GPU", 0)),
            )
            for found in self.ray.nodes()
            if found["Alive"] and found["Resources"].get("CPU", 0) >= 1
        ]
        free = self.ray.available_resources().get("CPU", 0)
        idle = free >= sum(node.cpus for node in offering)
        if idle:
            self._held.start(
                self._stand(offering), lambda place: self._started(place, 1)
            )
        asked = self._ask(offering, installation)
        self.nodes, there = [], {}
        for node in offering:
            try:
                there[node.id] = self._told(node, asked[node.id])
                self.nodes.append(node)
            except LostNode as fault:
                self.say(f"{fault.what}; it is left out")
        if not self.nodes:
            raise BadConfiguration(
                "no node of the cluster offers a CPU", then="start one with --num-cpus"
            )
        return there, idle

    def _with_neighbours(
        self, there: Mapping[str, Installation], *, idle: bool
    ) -> list[Node]:
        """Return the nodes, each with whether it has its machine for itself."""
        nodes_of = Counter(found.machine for found in there.values())
        return [
            replace(node, exclusive=idle and nodes_of[there[node.id].machine] == 1)
            for node in self.nodes
        ]


@contextmanager
def joined_cluster(
    address: str,
    cpus: int,
    say: Callable[[str], None],
    stand: Callable[[Sequence[Node]], Sequence[Place]],
) -> Iterator[RayCluster]:
    """Join a cluster for the length of a block; its nodes are checked first.

    Args:
        address: `HOST:PORT`, `auto`, or empty for one that is started here.
        cpus: CPUs of one that is started here.
        say: Is told what a person may want to know at once.
        stand: Returns where lanes will stand, on nodes that offer CPUs.

    Raises:
        Unavailable: there is no Ray, no cluster, or a node that cannot work (exit 69).
        BadConfiguration: a node has other versions than this process (exit 78).
    """
    with joined(address, cpus) as ray:
        import_scheduling(ray)
        yield RayCluster(ray, say, stand)


def _cannot_work(node: Node, cause: Exception) -> Unavailable:
    """Return what is said of a node on which our code does not run."""
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return Unavailable(
        f"node {node.name} cannot work for csbdata ({lines[-1]})",
        then="install csbdata there as it is installed here",
    )


def import_scheduling(ray: Any) -> None:  # noqa: ANN401 - see `ray_library`
    """Let `ray.util.scheduling_strategies` be there, which Ray does not import."""
    from importlib import import_module  # noqa: PLC0415 - only with Ray

    import_module(f"{ray.__name__}.util.scheduling_strategies")


def raise_fault(answer: object) -> None:
    """Raise what a session has raised on its node.

    Raises:
        CsbdataError: the answer is one.
    """
    if isinstance(answer, CsbdataError):
        raise answer
