"""An engine on a node: the same rows as here, and no other engine in its place."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from curation.cluster.executor import ExecutorChoice, RayExecutor
from curation.cluster.nodes import Node, Place
from curation.system.errors import BadUsage
from curation.system.progress import Quiet
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Result
from evaluation.execution.engine_worker import PendingCase
from evaluation.generation.model_options import ModelOptions
from evaluation.measurement.preconditions import check_executor
from evaluation.measurement.run import plan_run
from evaluation.scheduling.cluster_lanes import ClusterLanes
from evaluation.scheduling.remote_engine import (
    RemoteEngine,
    RemoteEngineSetup,
    SentEngine,
    look_for_engines,
    packed,
)
from evaluation.setup.selected_engines import select_engines
from evaluation.tasks.registry import task_named
from tests.evaluation.measuring import BRISK, miniature, request_of, sample, tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Case


def _sent(tmp_path: Path, name: str) -> SentEngine:
    (engine,) = select_engines(tmp_path, [miniature(name)], "faithful", [])
    return SentEngine.of(engine)


def _cases(tmp_path: Path, *titles: str) -> list[Case]:
    request = request_of(tmp_path, ())
    samples = [sample(title, "{}") for title in titles]
    return list(task_named("masks").cases(samples, request.settings))


def test_an_engine_that_crashes_is_a_row_and_the_lane_goes_on(tmp_path: Path) -> None:
    """The engine's file and the tokenizer arrive as contents, not as paths."""
    files = tokenizer(tmp_path)
    setup = RemoteEngineSetup(
        engine=_sent(tmp_path, "crash"),
        tokenizer_name="made",
        tokenizer=packed(files),
        bounds=BRISK,
        timed_place=0,
    )
    session = RemoteEngine(setup)
    assert session.answer([]) == []
    cases = _cases(tmp_path, "well", "crash", "fine")
    encode = files.encoder()
    rows = session.answer(
        [
            PendingCase(
                case=case,
                tokens=encode([walk.text for walk in case.walks]),
                fingerprint=case.id,
            )
            for case in cases
        ]
    )
    session.close()
    assert [row.fingerprint for row in rows] == ["well", "crash", "fine"]
    assert [row.result for row in rows] == [Result.OK, Result.CRASH, Result.OK]


def test_another_engine_than_the_drivers_is_not_taken(tmp_path: Path) -> None:
    """By its identity: file, version and options."""
    other = replace(_sent(tmp_path, "accept_all"), identity="another")
    with pytest.raises(WorkerDidNotStart, match="another file of it"):
        other.find_here(tmp_path)


def test_a_node_says_which_engines_it_lacks(tmp_path: Path) -> None:
    """With the reason; the machine is told beside it."""
    engines = [_sent(tmp_path, "accept_all"), _sent(tmp_path, "absent")]
    lacking, machine = look_for_engines(engines)
    assert [*lacking] == [engines[1].label]
    assert lacking[engines[1].label]
    assert machine["cores"]


def test_a_server_is_not_asked_by_a_cluster(tmp_path: Path) -> None:
    """It says so, and what to do instead; a model with a name is run there."""
    request = replace(request_of(tmp_path, ()), executor=ExecutorChoice(name="ray"))
    check_executor([task_named("masks"), task_named("coverage")], request)
    asked = replace(request, models=ModelOptions(model="http://127.0.0.1:1/v1#m"))
    with pytest.raises(BadUsage, match="asks no server: task coverage"):
        check_executor([task_named("coverage")], asked)


class _Cluster:
    """Two nodes, of which the second lacks an engine."""

    nodes = (
        Node(id="a", name="here", cpus=1),
        Node(id="b", name="there", cpus=1),
    )

    def on_every_node(self, *_asked: object) -> dict[str, object]:
        return {"a": ({}, {}), "b": ({"accept_all": "no such library"}, {})}


def test_what_a_node_lacks_is_done_by_the_others(tmp_path: Path) -> None:
    """That is said once; only where no node has an engine it cannot be run."""
    cluster: Any = _Cluster()
    said: list[str] = []
    executor = RayExecutor(cluster, tuple(Place(node, 0) for node in cluster.nodes))
    plan, _, _ = plan_run(request_of(tmp_path, ()), Quiet())
    lanes = ClusterLanes(executor, plan, (), said.append)
    assert said == [
        "node there has no accept_all (no such library); others do its work"
    ]
    engine: Any = SimpleNamespace(label="accept_all")
    assert lanes.places([engine]) == [0]
    alone = ClusterLanes(RayExecutor(cluster, executor.places[1:]), plan, (), print)
    with pytest.raises(WorkerDidNotStart, match="no node of the cluster can run it"):
        alone.places([engine])
