"""Errors of `--executor`, and the choice of tasks, without a cluster."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.errors import BadUsage, Unavailable
from curation.workers.ray_shards import _places, ray_address, run_shards

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "executor", ["spark", "ray:", "ray:here", "ray:host:", "ray::6379", "ray:host:port"]
)
def test_other_executors_are_refused(executor: str) -> None:
    """One line that names the forms."""
    with pytest.raises(BadUsage, match="takes local, ray, ray:auto or ray:HOST:PORT"):
        ray_address(executor)


def _run(executor: str, kept: Path) -> None:
    run_shards(print, None, executor=executor, folder=kept, fingerprint="0")


def test_without_ray_the_error_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The extra's library, in a command."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unavailable, match=r"needs the library ray.*pip install"):
        _run("ray", tmp_path)


@pytest.mark.slow
def test_an_address_without_a_cluster_fails_at_once(tmp_path: Path) -> None:
    """Ray itself would wait for minutes: a port on which nothing listens."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(Unavailable, match=f"{address}: no Ray cluster answers"):
            _run(f"ray:{address}", tmp_path)


def _node(cpus: int, gpus: int = 0) -> dict[str, Any]:
    return {"Resources": {"CPU": float(cpus), "GPU": float(gpus)}}


@pytest.mark.parametrize(
    ("nodes", "use_gpus", "places"),
    [
        ([_node(8), _node(4)], True, (4, 0, 2)),
        ([_node(8, 2), _node(4)], True, (4, 1, 2)),
        ([_node(8, 2), _node(16, 8)], True, (2, 1, 10)),
        ([_node(1, 2)], True, (1, 1, 2)),
        ([_node(8, 2)], False, (8, 0, 1)),
    ],
)
def test_a_task_takes_a_node_or_a_gpu(
    nodes: list[dict[str, Any]], *, use_gpus: bool, places: tuple[int, int, int]
) -> None:
    """Its CPUs, its GPUs, and how many tasks run at the same time."""
    assert _places(nodes, use_gpus=use_gpus) == places
