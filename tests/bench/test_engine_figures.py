"""What measuring costs is compared on what both sides have measured."""

from __future__ import annotations

from typing import Any

from bench.engine.engines import Times, _ratios

_OURS: dict[str, Any] = {"wall_seconds": 3.0, "processor_seconds": 4.0}
_LOOP: dict[str, Any] = {"wall_seconds": 2.0, "processor_seconds": 4.0}


def test_ratios_are_of_schemas_that_both_compiled() -> None:
    """A schema of one side alone, or without a walk, takes part in nothing."""
    ours: Times = {
        "a": [[20], [10, 30], [4]],
        "b": [[60], [], []],
        "only ours": [[9], [9], [9]],
    }
    loop: Times = {
        "a": [[10], [10, 10], [8]],
        "b": [[20], [], []],
        "only theirs": [[1], [1], [1]],
    }
    assert _ratios(_OURS, _LOOP, ours, loop) == {
        "wall_seconds": 1.5,
        "processor_seconds": 1.0,
        "compile_median": round(40 / 15, 3),
        "compile_by_schema": 2.5,
        "mask_median": 2.0,
        "mask_by_schema": 2.0,
        "commit_median": 0.5,
        "commit_by_schema": 0.5,
    }


def test_one_slow_schema_does_not_move_the_comparison() -> None:
    """Schema by schema, a disturbance of one is one of many."""
    times: Times = {str(each): [[100 + each], [10], [1]] for each in range(21)}
    disturbed: Times = {**times, "3": [[10**9], [10**9], [10**9]]}
    found = _ratios(_OURS, _LOOP, disturbed, times)
    assert found["compile_by_schema"] == 1.0
    assert found["mask_by_schema"] == 1.0
