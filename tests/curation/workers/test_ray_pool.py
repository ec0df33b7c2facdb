"""Batches on a cluster have the results of one machine, and its faults are told."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    CsbdataError,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.workers import ray_pool
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.ray_pool import RayPool, pools_of, ray_address
from curation.workers.worker import WorkerDidNotStart
from tests.curation.workers.local_ray import LocalRay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.workers.limits import Message

PROGRAM = Program(file=Path(__file__).with_name("miniature_worker.py"))


@pytest.fixture
def ray() -> Iterator[LocalRay]:
    """A cluster of two nodes."""
    with closing(LocalRay()) as cluster:
        yield cluster


@pytest.mark.parametrize(
    "executor", ["spark", "ray:", "ray:here", "ray:host:", "ray::6379", "ray:host:port"]
)
def test_other_executors_are_refused(executor: str) -> None:
    """One line that names the forms."""
    with pytest.raises(BadUsage, match="takes local, ray, ray:auto or ray:HOST:PORT"):
        ray_address(executor)


def test_without_ray_the_error_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The extra's library, in a command."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(Unavailable, match=r"needs the library ray.*pip install"),
        pools_of("ray", print),
    ):
        pass


@pytest.mark.slow
def test_an_address_without_a_cluster_fails_at_once() -> None:
    """Ray itself would wait for minutes: a port on which nothing listens."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with (
            pytest.raises(Unavailable, match=f"{address}: no Ray cluster answers"),
            pools_of(f"ray:{address}", print),
        ):
            pass


def test_every_batch_has_its_results_whatever_the_order(ray: LocalRay) -> None:
    """A death is the outcome of its request there, too; an empty batch has none."""
    said: list[str] = []
    batches: list[list[Message]] = [[["echo", n], ["echo", -n]] for n in range(6)]
    batches += [[["leave", 3], ["echo", "after"]], []]
    pool = RayPool(ray, said.append, PROGRAM, jobs=1)
    found = {it.index: it.results for it in pool.run_batches(iter(batches))}
    for n in range(6):
        assert [result.answer for result in found[n]] == [n, -n]
    assert [result.ending for result in found[6]] == [Ending.CRASH, Ending.OK]
    assert found[7] == ()
    assert list(found) != sorted(found)
    assert said == ["Ray: 2 nodes, 2 CPUs"]


def test_a_lost_node_is_said_once_and_without_any_it_ends(ray: LocalRay) -> None:
    """The same command goes on: exit code 75."""
    said: list[str] = []
    pool = RayPool(ray, said.append, PROGRAM, jobs=1)
    results = pool.run_batches([["echo", n]] for n in range(9))
    next(results)
    ray.alive.remove("node-2")
    next(results)
    next(results)
    assert said[1:] == ["Ray: node host (node-2) was lost; its batches are run again"]
    ray.alive.clear()
    with pytest.raises(TemporarilyUnavailable, match="no node of the cluster"):
        next(results)


def test_a_node_with_other_code_or_files_is_refused(
    ray: LocalRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """78, before it works on anything: what differs, and on which node."""
    (tmp_path / "file").write_text("as here")
    program = replace(PROGRAM, files=(tmp_path,))
    pool = RayPool(ray, print, program, jobs=1)
    (tmp_path / "file").write_text("otherwise")
    with pytest.raises(BadConfiguration, match=r"node \S+ has input files \w+, not"):
        next(pool.run_batches([[["echo", 1]]]))
    pool = RayPool(ray, print, PROGRAM, jobs=1)
    monkeypatch.setattr(ray_pool, "code_digest", lambda: "0" * 64)
    with pytest.raises(BadConfiguration, match=r"has code 000000000000, not"):
        next(pool.run_batches([[["echo", 1]]]))


def _raises(error: Exception) -> object:
    def run(*_: object) -> object:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (ImportError("no csbdata"), Unavailable, "a node cannot import csbdata"),
        (ZeroDivisionError("x"), CsbdataError, "ZeroDivisionError"),
        (ConnectionError("gone"), CsbdataError, "worker was lost 4 times"),
    ],
)
def test_the_end_of_a_task_is_one_line(
    ray: LocalRay,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    kind: type[CsbdataError],
    words: str,
) -> None:
    """Whatever ends it on the node."""
    monkeypatch.setattr(ray_pool, "_run_batch", _raises(error))
    pool = RayPool(ray, print, PROGRAM, jobs=1)
    with pytest.raises(kind, match=words):
        next(pool.run_batches([[["echo", 1]]]))
    ray._sent.clear()


def test_a_worker_that_does_not_start_there_is_a_fault_here(ray: LocalRay) -> None:
    """With what it printed."""
    program = replace(PROGRAM, file=Path("/nowhere.py"))
    with pytest.raises(WorkerDidNotStart, match=r"nowhere\.py"):
        next(RayPool(ray, print, program, jobs=1).run_batches([[["echo", 1]]]))
