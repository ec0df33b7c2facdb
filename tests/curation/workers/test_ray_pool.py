"""Batches on a cluster have the results of one machine, and its faults are told."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from curation.system.errors import (
    BadUsage,
    Unavailable,
)
from curation.workers.ray_pool import NODE_PATH, open_pools, ray_address


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
        open_pools("ray", print),
    ):
        pass


@pytest.mark.parametrize("path", [None, "mine"])
def test_the_path_of_the_nodes_is_not_left_in_this_process(
    path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray starts its nodes with it, in front of what the process has."""
    monkeypatch.setenv("PYTHONPATH", path or "")
    if path is None:
        monkeypatch.delenv("PYTHONPATH")
    given = list[str]()
    ray = SimpleNamespace(
        init=lambda **_: given.append(os.environ["PYTHONPATH"]), shutdown=list
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    with open_pools("ray", print):
        assert os.environ.get("PYTHONPATH") == path
    assert given == [os.pathsep.join(filter(None, (NODE_PATH, path)))]


@pytest.mark.slow
def test_an_address_without_a_cluster_fails_at_once() -> None:
    """Ray itself would wait for minutes: a port on which nothing listens."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with (
            pytest.raises(Unavailable, match=f"{address}: no Ray cluster answers"),
            open_pools(f"ray:{address}", print),
        ):
            pass
