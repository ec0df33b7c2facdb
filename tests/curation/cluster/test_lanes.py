"""What a lane does whose node or process is lost, on a cluster that only says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from curation.cluster.lanes import Lane
from curation.cluster.nodes import Node, Place
from curation.system.errors import CsbdataError, TemporarilyUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.cluster.ray_cluster import RayCluster

_A, _B = (Node(id=name, name=name, cpus=2, gpus=1) for name in "ab")


class _RayError(Exception):
    pass


class _TaskError(_RayError):
    pass


class _Cluster:
    """Of its actors the first so many are lost; the others answer with their task."""

    def __init__(self, living: Sequence[Node], losses: int) -> None:
        self._living, self._losses = living, losses
        #: Where actors were opened, and with how many GPUs.
        self.opened: list[tuple[str, int]] = []
        self.said: list[str] = []
        self.ray = SimpleNamespace(
            exceptions=SimpleNamespace(RayTaskError=_TaskError, RayError=_RayError),
            wait=lambda references, timeout: (references, []),  # noqa: ARG005 - as Ray's
            get=lambda reference: reference(),
        )
        self.say = self.said.append

    def living(self) -> Sequence[Node]:
        return self._living

    def open_actor(
        self, place: Place, _open: object, _shared: object, _cpus: float, gpus: int = 0
    ) -> object:
        self.opened.append((place.node.name, gpus))
        is_lost = len(self.opened) <= self._losses

        def get(task: str) -> str:
            if is_lost:
                raise _RayError
            return task

        def remote(task: str) -> object:
            return lambda: get(task)

        return SimpleNamespace(answer=SimpleNamespace(remote=remote))


def _answers(cluster: _Cluster, gpus: int) -> list[str]:
    lane: Lane[None, str, str] = Lane(
        cast("RayCluster", cluster), Place(_A, 0), cast("Any", None), None, 1.0, gpus
    )
    lane.give("one")
    lane.give("two")
    found: list[str] = []
    while not lane.idle:
        found += lane.collect()
    return found


def test_a_lane_goes_on_on_another_node_and_says_so() -> None:
    """What had no answer is given to it again, in its order."""
    cluster = _Cluster([_B], losses=1)
    assert _answers(cluster, gpus=0) == ["one", "two"]
    assert cluster.opened == [("a", 0), ("b", 0)]
    assert cluster.said == [
        "node a or its worker was lost; what it was on is done again on b"
    ]


def test_a_lane_with_a_gpu_keeps_it_where_only_its_process_was_lost() -> None:
    """On the same node: those of others have lanes of their own."""
    cluster = _Cluster([_A, _B], losses=1)
    assert _answers(cluster, gpus=1) == ["one", "two"]
    assert cluster.opened == [("a", 1), ("a", 1)]


def test_a_node_that_is_lost_with_its_gpu_ends_the_command() -> None:
    """It would never get another; the same command goes on without."""
    with pytest.raises(TemporarilyUnavailable) as told:
        _answers(_Cluster([_B], losses=1), gpus=1)
    assert "GPU was lost" in told.value.what
    assert told.value.then == "the same command goes on with the GPUs that are left"


def test_a_task_that_ends_every_worker_ends_the_command() -> None:
    """After the third, which is said with the node."""
    with pytest.raises(CsbdataError, match="lost 3 workers with the same task"):
        _answers(_Cluster([_A, _B], losses=9), gpus=0)
    with pytest.raises(TemporarilyUnavailable, match="no node of the cluster is left"):
        _answers(_Cluster([], losses=1), gpus=0)
