"""What one document may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.core.documents import Reason
from curation.instances.dataset.worker import limits as instance_limits
from curation.json.text import MAX_DEPTH
from curation.pipeline.process_document import LIMITS
from curation.workers.limits import BUSY_MACHINE, Limits, count_nodes, too_big, too_many

if TYPE_CHECKING:
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
