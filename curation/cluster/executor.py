"""Which executor a command asks for: child processes here, or a Ray cluster."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.cluster.nodes import places
from curation.cluster.pool import ClusterPool, PoolSetup
from curation.cluster.ray_cluster import joined_cluster
from curation.system.errors import BadUsage
from curation.workers.executor import LocalExecutor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.cluster.nodes import Node, Place
    from curation.cluster.ray_cluster import RayCluster
    from curation.workers.executor import Executor
    from curation.workers.limits import Limits
    from curation.workers.process import Program

LOCAL: Final = "local"
RAY: Final = "ray"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorChoice:
    """Where work is to be done.

    Example:
        >>> ExecutorChoice(name="ray", address="10.0.0.1:6379").is_ray
        True
    """

    #: `local` or `ray`.
    name: str = LOCAL
    #: Of a Ray cluster: `HOST:PORT`, or `auto`; empty for one that is started here.
    address: str = ""

    @property
    def is_ray(self) -> bool:
        """Whether a Ray cluster does the work."""
        return self.name == RAY


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """Actors on the nodes of a Ray cluster."""

    cluster: RayCluster
    #: Where its lanes stand, one each.
    places: tuple[Place, ...]

    @property
    def jobs(self) -> int:
        """The number of lanes."""
        return len(self.places)

    def pool(
        self, program: Program, limits: Limits | None = None, *, attempts: int = 2
    ) -> ClusterPool:
        """Return a pool over all lanes."""
        setup = PoolSetup.of(program, limits, attempts)
        return ClusterPool(self.cluster, self.places, setup)


@contextmanager
def open_executor(
    choice: ExecutorChoice,
    jobs: int | None,
    say: Callable[[str], None] = lambda _message: None,
    *,
    one_a_node: bool = False,
) -> Iterator[Executor]:
    """Open the executor that was chosen, for the length of a block.

    Args:
        choice: Which one, and where.
        jobs: Workers; None for one a core, or a CPU of the cluster.
        say: Is told what a person may want to know at once.
        one_a_node: Of a cluster, take one worker a node: where times are results.

    Raises:
        BadUsage: there is no such executor, or an address without a cluster.
        Unavailable: Ray is not installed, no cluster is at the address, or a node
            cannot work (exit 69).
        BadConfiguration: a node has other versions than this process (exit 78).

    Example:
        >>> with open_executor(ExecutorChoice(), 2) as executor:
        ...     executor.jobs
        2
    """
    check_choice(choice)
    cores = os.cpu_count() or 1
    if not choice.is_ray:
        yield LocalExecutor(jobs or cores)
        return

    def stand(nodes: Sequence[Node]) -> list[Place]:
        found = places(nodes, jobs or sum(node.cpus for node in nodes))
        return [place for place in found if place.index == 0 or not one_a_node]

    with joined_cluster(choice.address, jobs or cores, say, stand) as cluster:
        where = stand(cluster.nodes)
        say(
            f"Ray: {len(where)} workers on {len(cluster.nodes)} "
            f"{'node' if len(cluster.nodes) == 1 else 'nodes'}"
        )
        yield RayExecutor(cluster, tuple(where))


def check_choice(choice: ExecutorChoice) -> None:
    """Check that there is such an executor.

    Raises:
        BadUsage: there is not, or it has no address.
    """
    if choice.name not in (LOCAL, RAY):
        raise BadUsage(f"--executor takes {LOCAL} or {RAY}, not {choice.name!r}")
    if choice.address and not choice.is_ray:
        raise BadUsage("--address is that of a Ray cluster", then="add --executor ray")
