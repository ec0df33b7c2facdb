"""What is said of an executor that cannot be had, before anything is read."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import curation.workers.limits
from curation.cluster.executor import ExecutorChoice, open_executor
from curation.cluster.pool import PoolAnswer, PoolSession, PoolSetup
from curation.cluster.session import SessionActor
from curation.system.errors import BadUsage, CsbdataError, Unavailable
from curation.workers.executor import LocalExecutor
from curation.workers.process import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.workers.messages import Message

_DOUBLER = """
from curation.workers.protocol import serve
serve(lambda setup: lambda unit: unit * 2)
"""


def _open(**choice: str) -> None:
    with open_executor(ExecutorChoice(**choice), 1):
        pass


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"name": "spark"}, "takes local or ray"),
        ({"address": "auto"}, "add --executor ray"),
    ],
)
def test_what_makes_no_sense_is_refused(choice: dict[str, str], said: str) -> None:
    """An executor that there is not, and an address for none."""
    with pytest.raises(BadUsage, match=said):
        _open(**choice)


def test_the_default_is_child_processes() -> None:
    """As many as were asked for."""
    with open_executor(ExecutorChoice(), 3) as executor:
        assert executor == LocalExecutor(3)


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra's library, in a command."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Unavailable, match=r"needs the library ray.*pip install"):
        _open(name="ray")


def test_an_address_without_a_cluster_is_said_at_once() -> None:
    """Ray itself would wait for minutes: a port on which nobody listens."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(Unavailable, match=f"{address}: no Ray cluster answers"):
            _open(name="ray", address=address)


@pytest.mark.parametrize("address", ["here", "host:", ":6379", "host:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    """HOST:PORT, or auto."""
    pytest.importorskip("ray", reason="csbdata[ray] is not installed")
    with pytest.raises(BadUsage, match="takes HOST:PORT or auto"):
        _open(name="ray", address=address)


def test_a_lane_answers_batches_with_one_worker(tmp_path: Path) -> None:
    """What an actor does on its node, here: a program of ours is found by its place."""
    program = tmp_path / "doubler.py"
    program.write_text(_DOUBLER, encoding="utf-8")
    actor: SessionActor[PoolSetup, Sequence[Message], PoolAnswer] = SessionActor()
    actor.open(PoolSession, PoolSetup.of(Program(file=program), None, 2))
    answers = [actor.answer(()), actor.answer([1, 2]), actor.answer([3])]
    actor.close()
    found = [
        [result.answer for result in answer.results]
        for answer in answers
        if not isinstance(answer, CsbdataError)
    ]
    assert found == [[], [2, 4], [6]]


def test_a_worker_that_cannot_start_is_an_answer(tmp_path: Path) -> None:
    """A fault crosses to the driver as a value; the actor lives on."""
    program = tmp_path / "broken.py"
    program.write_text("raise SystemExit(3)", encoding="utf-8")
    actor: SessionActor[PoolSetup, Sequence[Message], PoolAnswer] = SessionActor()
    actor.open(PoolSession, PoolSetup.of(Program(file=program), None, 2))
    answer = actor.answer([1])
    actor.close()
    assert isinstance(answer, CsbdataError)


def test_a_program_of_ours_is_found_where_the_node_has_it() -> None:
    """Its path is sent as one below the packages."""
    path = Path(curation.workers.limits.__file__)
    setup = PoolSetup.of(Program(file=path), None, 2)
    assert setup.ours == "curation/workers/limits.py"
    assert setup.program_here() == Program(file=path.resolve())
