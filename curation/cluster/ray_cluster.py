"""A cluster that was joined: its nodes, checked, and the lanes that stand on them."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from curation.cluster.nodes import Installation, Node, check_same, installation
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

    def __init__(self, ray: Any, say: Callable[[str], None]) -> None:  # noqa: ANN401 - see `ray_library`
        """Take the module of a driver that is connected."""
        self.ray = ray
        self.say = say
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
        """Have all nodes work on a function; return what stands for their answers."""
        remote = self.ray.remote(function)
        return {
            node.id: remote.options(
                num_cpus=0, max_retries=0, scheduling_strategy=self._pinned(node)
            ).remote(*arguments)
            for node in nodes
        }

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
        """Return an actor on a place; Ray starts it by and by.

        Nothing is tried again by Ray: a unit must not be measured twice unseen.
        """
        actor = self.ray.remote(SessionActor)
        return actor.options(
            num_cpus=cpus,
            num_gpus=gpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=self._pinned(place.node),
        ).remote(open_session, shared)

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
            lines = str(cause).strip().splitlines() or [type(cause).__name__]
            raise Unavailable(
                f"node {node.name} cannot work for csbdata ({lines[-1]})",
                then="install csbdata there as it is installed here",
            ) from error
        except self.ray.exceptions.RayError as error:
            raise LostNode(f"node {node.name} was lost") from error

    def _checked_nodes(self) -> list[Node]:
        """Return the nodes that offer CPUs, each seen to have what we have.

        Raises:
            BadConfiguration: one has other versions, or none offers a CPU (exit 78).
            Unavailable: one cannot be asked (exit 69).
        """
        there = self._asked_nodes()
        here = installation()
        for node in self.nodes:
            check_same(here, there[node.id], node.name)
        return self._with_neighbours(there)

    def _asked_nodes(self) -> dict[str, Installation]:
        """Return what the nodes that offer CPUs have; one just lost is left out."""
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
        return there

    def _with_neighbours(self, there: Mapping[str, Installation]) -> list[Node]:
        """Return the nodes, each with whether it has its machine for itself."""
        nodes_of = Counter(found.machine for found in there.values())
        free = self.ray.available_resources().get("CPU", 0)
        idle = free >= sum(node.cpus for node in self.nodes)
        return [
            replace(node, exclusive=idle and nodes_of[there[node.id].machine] == 1)
            for node in self.nodes
        ]


@contextmanager
def joined_cluster(
    address: str, cpus: int, say: Callable[[str], None]
) -> Iterator[RayCluster]:
    """Join a cluster for the length of a block; its nodes are checked first.

    Args:
        address: `HOST:PORT`, `auto`, or empty for one that is started here.
        cpus: CPUs of one that is started here.
        say: Is told what a person may want to know at once.

    Raises:
        Unavailable: there is no Ray, no cluster, or a node that cannot work (exit 69).
        BadConfiguration: a node has other versions than this process (exit 78).
    """
    with joined(address, cpus) as ray:
        import_scheduling(ray)
        yield RayCluster(ray, say)


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
