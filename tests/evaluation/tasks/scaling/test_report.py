"""The exponent of a cost: what is recovered, and what is not pretended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.tasks.scaling.report import exponent

SIZES = [2.0**power for power in range(12)]


@given(
    power=st.floats(-1, 3),
    scale=st.floats(1e-3, 1e9),
    sizes=st.lists(st.sampled_from(SIZES[6:]), min_size=3, unique=True),
)
def test_an_exact_power_law_is_recovered(
    power: float, scale: float, sizes: list[float]
) -> None:
    """Without noise the exponent is exact and its interval has no width."""
    found = exponent([(size, scale * size**power) for size in sizes])
    assert found is not None
    assert found.value == pytest.approx(power, abs=1e-6)
    assert found.interval is not None
    assert found.interval.high - found.interval.low < 1e-4


@given(noise=st.lists(st.floats(0.5, 2.0), min_size=7, max_size=7))
def test_the_interval_holds_the_estimate(noise: list[float]) -> None:
    """Noise widens the interval around the estimate, on both sides alike."""
    points = [(size, size * by) for size, by in zip(SIZES[-7:], noise, strict=True)]
    found = exponent(points)
    assert found is not None
    assert found.interval is not None
    middle = (found.interval.low + found.interval.high) / 2
    assert middle == pytest.approx(found.value)


def test_a_fixed_cost_does_not_hide_the_growth() -> None:
    """Sizes below 1/64 of the largest are not in the fit."""
    sizes = [4.0**power for power in range(10)]
    points = [(size, 1e4 + size**2) for size in sizes]
    found = exponent(points)
    assert found is not None
    assert found.value == pytest.approx(2, abs=0.01)
    assert found == exponent([point for point in points if point[0] >= sizes[-1] / 64])


@pytest.mark.parametrize(
    "points",
    [[], [(1.0, 5.0)], [(1.0, 5.0), (2.0, 6.0)], [(4.0, 1.0)] * 9, [(1, 0.0)] * 3],
)
def test_too_little_gives_no_exponent(points: list[tuple[float, float]]) -> None:
    """Fewer than three sizes, or a cost of nothing: no slope is made up."""
    assert exponent(points) is None
