"""What one document may cost, and how documents are put into batches and on nodes."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason
from curation.instances.dataset.worker import limits as instance_limits
from curation.json.text import MAX_DEPTH
from curation.pipeline.process_document import LIMITS
from curation.system.errors import BadUsage, Unavailable
from curation.workers.limits import BUSY_MACHINE, Limits, count_nodes, too_big, too_many
from curation.workers.pool import in_batches
from curation.workers.ray_shards import _places, ray_address, run_shards

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def test_a_text_at_the_limit_is_read_and_one_byte_more_is_not() -> None:
    """The limit is the largest size that is allowed."""
    limits = Limits(document_bytes=10)
    assert too_big(b"x" * 10, limits) is None
    verdict = too_big(b"x" * 11, limits)
    assert verdict is not None
    assert verdict.reason is Reason.TOO_LARGE
    assert "11 bytes" in verdict.detail


@pytest.mark.parametrize(
    ("value", "nodes"), [(1, 1), ({}, 1), ({"a": 1, "b": [1, 2]}, 5), ([[], [[]]], 4)]
)
def test_nodes_are_all_values_the_root_included(value: UntypedJson, nodes: int) -> None:
    """Members and elements count one each."""
    assert count_nodes(value, 100) == nodes
    assert too_many(value, Limits(nodes=nodes)) is None
    assert too_many(value, Limits(nodes=nodes - 1)) is not None


def test_counting_ends_once_there_are_more_than_enough() -> None:
    """A huge document is not counted to its end."""
    assert count_nodes([[0] * 100 for _ in range(1000)], 10) < 1200


def test_what_becomes_of_a_document_does_not_turn_on_how_busy_the_machine_is() -> None:
    """Rules and instances have their seconds of processor time, and longer to wait."""
    for limits in (LIMITS, instance_limits()):
        assert limits.wall_times == BUSY_MACHINE >= 4


def test_the_defaults_hold_what_real_schemas_need() -> None:
    """The largest file of json-schema-corpus has 1,603,204 bytes."""
    limits = Limits()
    assert limits.document_bytes > 10 * 1_603_204 // 2
    assert limits.depth == MAX_DEPTH


def test_a_worker_is_told_plain_bytes() -> None:
    """The child needs no arithmetic and no csbdata to understand its limits."""
    told = Limits(memory_mb=2, file_mb=3, open_files=4).for_worker()
    assert msgspec.to_builtins(told) == {
        "memory_bytes": 2**21,
        "file_bytes": 3 * 2**20,
        "open_files": 4,
    }


weights = st.lists(st.integers(min_value=0, max_value=50))


@given(weights, st.integers(1, 10), st.integers(1, 100))
def test_batches_hold_every_unit_once_and_in_order(
    units: list[int], most: int, heaviest: int
) -> None:
    """Joined again, the batches are the units; only their last one weighs too much."""
    batches = list(in_batches(units, int, most=most, heaviest=heaviest))
    assert list(chain.from_iterable(batches)) == units
    for each in batches:
        assert 1 <= len(each) <= most
        assert sum(each[:-1]) < heaviest


def test_a_batch_is_ready_before_the_next_unit_is_asked_for() -> None:
    """What is read lazily is held one batch at a time."""
    asked: list[int] = []

    def units() -> Iterator[int]:
        for each in range(9):
            asked.append(each)
            yield each

    first = next(iter(in_batches(units(), int, most=3, heaviest=99)))
    assert first == asked == [0, 1, 2]


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
