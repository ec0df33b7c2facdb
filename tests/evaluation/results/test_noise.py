"""What lies between processes of one engine widens what is said of two."""

from __future__ import annotations

import random
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.statistics import Interval
from evaluation.results.noise import reach_of, repetition_offsets, widened


def _processes(deviation: float, count: int, seed: int) -> list[list[float]]:
    """Return times of 50 schemas in so many processes, each faster or slower."""
    draw = random.Random(seed)
    offsets = [draw.gauss(0, deviation) for _ in range(count)]
    return [
        [exp(10 + size + offset) for offset in offsets]
        for size in (draw.gauss(0, 1) for _ in range(50))
    ]


def test_without_repetitions_nothing_is_known() -> None:
    """It widens nothing."""
    assert reach_of([[[5.0], [7.0]], [[5.0]]]) == 0


def test_the_deviation_between_processes_is_found() -> None:
    """Whatever lies between schemas; more processes leave less of it."""
    once = [[10.0]] * 50
    for count in (200, 800):
        reach = reach_of([_processes(0.1, count, 1), once])
        assert reach == pytest.approx(0.196, rel=0.1)
        both = reach_of([_processes(0.1, count, 1), _processes(0.1, count, 2)])
        assert both == pytest.approx(0.196 * (2 / count) ** 0.5, rel=0.1)


def test_offsets_are_of_the_cases_that_all_repetitions_have() -> None:
    """They add up to nothing; a case that lacks one says nothing of any."""
    offsets = repetition_offsets([[1.0, exp(2)], [1.0, exp(2)], [9.0]])
    assert offsets == pytest.approx([-1.0, 1.0])
    assert repetition_offsets([[1.0], [2.0]]) == repetition_offsets([]) == []


@given(
    value=st.floats(0.1, 10),
    low=st.floats(0.5, 1),
    high=st.floats(1, 2),
    reach=st.floats(0, 2),
)
def test_an_interval_never_gets_narrower(
    value: float, low: float, high: float, reach: float
) -> None:
    """And it reaches at least as far as the other error."""
    before = Interval(value * low, value * high)
    after = widened(value, before, reach)
    assert after.low <= before.low * (1 + 1e-9)
    assert after.high >= before.high * (1 - 1e-9)
    assert log(after.high / value) >= reach - 1e-9
    assert log(value / after.low) >= reach - 1e-9
