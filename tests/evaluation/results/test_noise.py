"""What lies between processes of one engine widens what is said of two."""

from __future__ import annotations

import random
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.statistics import Interval
from evaluation.results.noise import ASSUMED_WORTH, Noise, repetition_offsets, widened


def _processes(deviation: float, count: int, seed: int) -> list[list[float]]:
    """Return times of 50 schemas in so many processes, each faster or slower."""
    draw = random.Random(seed)
    offsets = [draw.gauss(0, deviation) for _ in range(count)]
    return [
        [exp(10 + size + offset) for offset in offsets]
        for size in (draw.gauss(0, 1) for _ in range(50))
    ]


def test_without_repetitions_it_is_what_is_assumed() -> None:
    """Nothing was measured: not that there is none."""
    noise = Noise.of([[[5.0], [7.0]], []], 0.02)
    assert noise == Noise(0.02, ASSUMED_WORTH)
    assert noise.reach([1, 1]) > 0


def test_many_repetitions_outweigh_what_is_assumed() -> None:
    """The deviation between processes is found, whatever lies between schemas."""
    noise = Noise.of([_processes(0.1, 200, 1), _processes(0.1, 200, 2)], 0.01)
    assert noise.deviation == pytest.approx(0.1, rel=0.1)
    assert noise.freedom == ASSUMED_WORTH + 398


def test_offsets_are_of_the_cases_that_all_repetitions_have() -> None:
    """They add up to nothing; a case that lacks one says nothing of any."""
    offsets = repetition_offsets([[1.0, exp(2)], [1.0, exp(2)], [9.0]])
    assert offsets == pytest.approx([-1.0, 1.0])
    assert repetition_offsets([[1.0], [2.0]]) == repetition_offsets([]) == []


def test_more_processes_leave_less_of_it() -> None:
    """A mean over four repetitions has half of the error of one."""
    noise = Noise(0.02, 50)
    assert noise.reach([4, 4]) == pytest.approx(noise.reach([1, 1]) / 2)


@given(
    value=st.floats(0.1, 10),
    low=st.floats(0.5, 1),
    high=st.floats(1, 2),
    reaches=st.lists(st.floats(0, 2), max_size=3),
)
def test_an_interval_never_gets_narrower(
    value: float, low: float, high: float, reaches: list[float]
) -> None:
    """And it reaches at least as far as the largest of the errors."""
    before = Interval(value * low, value * high)
    after = widened(value, before, *reaches)
    assert after.low <= before.low * (1 + 1e-9)
    assert after.high >= before.high * (1 - 1e-9)
    for reach in reaches:
        assert log(after.high / value) >= reach - 1e-9
        assert log(value / after.low) >= reach - 1e-9
