"""An actor that a cluster has started is lent to one lane after the other."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import pytest

from curation.cluster.nodes import Place, installation, places
from curation.cluster.ray_cluster import RayCluster
from curation.cluster.session import SessionActor

if TYPE_CHECKING:
    from curation.cluster.nodes import Installation

_GRAMMAR = """
import sys
from curation.cluster.ray_library import ray_library
ray_library()
print("jsonschema" in sys.modules, "lark" in sys.modules)
"""


class _Method:
    """A method that is called from afar: what it was given, by name."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self._name, self._calls = name, calls

    def remote(self, *arguments: Any) -> Installation:  # noqa: ANN401 - as Ray's
        self._calls.append(" ".join([self._name, *arguments[1:]]))
        return installation()


class _Remote:
    """A class or function that Ray runs elsewhere; its processes are told apart."""

    def __init__(self, ray: _Ray, what: object, cpus: float = 0) -> None:
        self._ray, self._what, self._cpus = ray, what, cpus

    def options(self, *, num_cpus: float, **_more: object) -> Self:
        return type(self)(self._ray, self._what, num_cpus)

    def remote(self, *_arguments: object) -> object:
        if self._what is not SessionActor:
            self._ray.tasks += 1
            return installation()
        self._ray.actors.append(self._cpus)
        calls: list[str] = []
        names = ("call", "open", "answer", "close")
        return SimpleNamespace(
            calls=calls, **{name: _Method(name, calls) for name in names}
        )


class _Ray:
    """A cluster of two nodes, as Ray's module shows it."""

    def __init__(self, free: int) -> None:
        #: CPUs of every actor started; the tasks that no actor was asked.
        self.actors: list[float] = []
        self.tasks = 0
        self.killed: list[object] = []
        self.kill = self.killed.append
        self.available_resources = lambda: {"CPU": free}
        self.nodes = lambda: [
            {
                "NodeID": name,
                "NodeManagerAddress": name,
                "Alive": True,
                "Resources": {"CPU": 1},
            }
            for name in "ab"
        ]
        self.util = SimpleNamespace(
            scheduling_strategies=SimpleNamespace(
                NodeAffinitySchedulingStrategy=lambda **_where: None
            )
        )
        self.exceptions = SimpleNamespace(
            GetTimeoutError=TimeoutError, RayTaskError=KeyError, RayError=OSError
        )

    def remote(self, what: object) -> _Remote:
        return _Remote(self, what)

    @staticmethod
    def get(reference: object, timeout: float) -> object:  # noqa: ARG004 - as Ray's
        return reference


def _cluster(free: int) -> tuple[_Ray, RayCluster]:
    ray = _Ray(free)
    return ray, RayCluster(ray, lambda _message: None, lambda nodes: places(nodes, 2))


def test_the_actor_that_was_asked_does_the_work_of_one_lane_after_the_other() -> None:
    """One process a place in all: Ray takes seconds to start another."""
    ray, cluster = _cluster(free=2)
    assert (ray.actors, ray.tasks) == ([1, 1], 0)
    place = Place(cluster.nodes[0], 0)
    for shared in ("first", "second"):
        actor = cluster.open_actor(place, None, shared, 1.0)
        cluster.close_actor(place, actor, idle=True)
    assert actor.calls == ["call", "open first", "close", "open second", "close"]
    assert (len(ray.actors), ray.killed) == (2, [])


def test_lanes_that_share_a_place_share_the_cpu_of_its_actor() -> None:
    """Each has its own process; the node has no other CPU for them."""
    ray, cluster = _cluster(free=2)
    place = Place(cluster.nodes[0], 0)
    first, second = (cluster.open_actor(place, None, "", 0.5) for _ in range(2))
    assert first is not second
    assert ray.actors == [1, 1, 0]
    cluster.close_actor(place, second, idle=True)
    assert ray.killed == [second]


def test_an_actor_that_is_at_work_is_ended_with_its_lane() -> None:
    """The next lane has a new one."""
    ray, cluster = _cluster(free=2)
    place = Place(cluster.nodes[0], 0)
    actor = cluster.open_actor(place, None, "", 1.0)
    cluster.close_actor(place, actor, idle=False)
    assert ray.killed == [actor]
    assert cluster.open_actor(place, None, "", 1.0) is not actor


def test_a_model_has_the_cpus_of_its_node() -> None:
    """Actors that nobody has are ended there, and only there."""
    ray, cluster = _cluster(free=2)
    cluster.open_actor(Place(cluster.nodes[0], 0), None, "", 2.0)
    assert ray.actors == [1, 1, 2.0]
    assert len(ray.killed) == 1


def test_nothing_is_started_ahead_where_other_work_holds_a_cpu() -> None:
    """The nodes are asked beside it: an actor would wait for its end."""
    ray, _ = _cluster(free=1)
    assert (ray.actors, ray.tasks) == ([], 2)


def test_ray_does_not_build_the_grammar_of_iris() -> None:
    """Through jsonschema, which it imports; that would take a second and more."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    done = subprocess.run(
        [sys.executable, "-c", _GRAMMAR], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
