"""Resampled intervals and their p against scipy, the laws and the truth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.bootstrap import (
    bootstrap_means,
    geometric_ratio,
    mean_difference,
)
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.reporting.statistics import Interval

numpy = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")


def test_a_ratio_of_itself_is_one() -> None:
    """Equal figures have the ratio 1, and so has its interval."""
    found = geometric_ratio([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert found is not None
    assert found.value == 1
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, 1)


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=5))
def test_a_ratio_turns_over(pairs: list[tuple[float, float]]) -> None:
    """B / a and a / b multiply to 1; each lies in its own interval's order."""
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    one, other = geometric_ratio(a, b), geometric_ratio(b, a)
    assert one is not None
    assert other is not None
    assert math.isclose(one.value * other.value, 1)
    assert one.interval is not None
    assert one.interval.low <= one.interval.high


@pytest.mark.parametrize(
    ("a", "b", "pairs"), [([0, 1], [1, 1], 1), ([0], [1], None), ([], [], None)]
)
def test_what_has_no_ratio_is_left_out(
    a: Sequence[float], b: Sequence[float], pairs: int | None
) -> None:
    """A time of 0 is no time; one pair has no interval; no pair has no ratio."""
    found = geometric_ratio(a, b)
    assert (found and found.pairs) == pairs
    assert found is None or found.interval is None


def test_a_bootstrap_is_the_same_for_the_same_seed() -> None:
    """Other seeds give other intervals, near to each other; the mean is the mean."""
    a, b = [float(x) for x in range(1, 200)], [float(x % 7 + x) for x in range(1, 200)]
    first, again, other = (geometric_ratio(a, b, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    found = mean_difference(a, b)
    assert found is not None
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_a_bootstrap_is_scipys() -> None:
    """The same interval as scipy's percentile bootstrap, but for the draws."""
    drawn = numpy.random.default_rng(3).lognormal(0, 1, 300)
    between = _interval([0.0] * 300, drawn.tolist())
    reference = stats.bootstrap(
        (drawn,), numpy.mean, method="percentile", rng=numpy.random.default_rng(4)
    ).confidence_interval
    width = reference.high - reference.low
    assert abs(between.low - reference.low) < width / 20
    assert abs(between.high - reference.high) < width / 20


def _interval(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[int] | None = None,
    seed: int = 0,
) -> Interval:
    found = mean_difference(a, b, clusters, seed)
    assert found is not None
    assert found.interval is not None
    return found.interval


@pytest.mark.parametrize("size", first_fast(1, [5, 60]))
def test_a_bootstrap_covers_the_truth_about_as_often_as_it_says(size: int) -> None:
    """Of 100 samples with mean 1 some 95 % have it in their interval, few or many."""
    rng = numpy.random.default_rng(7)
    covered = 0
    for seed in range(100):
        drawn = rng.normal(1, 1, size).tolist()
        between = _interval([0.0] * size, drawn, seed=seed)
        covered += between.low <= 1 <= between.high
    assert 90 <= covered <= 99


def test_texts_of_one_schema_do_not_narrow_an_interval() -> None:
    """Every figure ten times over, in one cluster, says what it says once."""
    drawn = numpy.random.default_rng(3).normal(1, 1, 20).tolist()
    often = [value for value in drawn for _ in range(10)]
    clusters = [number for number in range(20) for _ in range(10)]
    once = mean_difference([0.0] * 20, drawn)
    found = mean_difference([0.0] * 200, often, clusters)
    assert once is not None
    assert found is not None
    assert once.interval is not None
    assert found.interval is not None
    for one, other in (
        (once.value, found.value),
        (once.p, found.p),
        (once.interval.low, found.interval.low),
        (once.interval.high, found.interval.high),
    ):
        assert math.isclose(one or 0, other or 0)
    assert (once.pairs, found.pairs) == (20, 200)


@given(st.lists(st.floats(-100, 100), min_size=8, max_size=12), st.integers(0, 9))
def test_p_says_what_the_interval_says(values: list[float], seed: int) -> None:
    """Below 0.05 where 0 is outside of the interval, above where it is inside."""
    found = mean_difference([0.0] * len(values), values, seed=seed)
    assert found is not None
    assert found.p is not None
    assert 0 <= found.p <= 1
    between = found.interval
    assert between is not None
    if found.p < 0.045:
        assert not between.low < 0 < between.high
    if found.p > 0.055:
        assert between.low <= 0 <= between.high


@pytest.mark.slow
def test_the_p_of_no_difference_is_even() -> None:
    """Of 200 samples with mean 0 about a tenth have a p below 0.1."""
    rng = numpy.random.default_rng(11)
    for size in (5, 25):
        found = [
            mean_difference([0.0] * size, rng.normal(0, 1, size).tolist(), seed=seed)
            for seed in range(200)
        ]
        ps = [one.p for one in found if one is not None and one.p is not None]
        assert len(ps) == 200
        assert 10 <= sum(p < 0.1 for p in ps) <= 32


@pytest.mark.parametrize("schemas", [1, 4])
def test_few_schemas_have_no_interval(schemas: int) -> None:
    """However many texts of them there are; of five there is one."""
    for number, known in ((schemas, False), (5, True)):
        clusters = [text % number for text in range(60)]
        found = mean_difference([0.0] * 60, [1.0 + it for it in clusters], clusters)
        assert found is not None
        assert found.value == 1 + (number - 1) / 2
        assert (found.interval is not None, found.p is not None) == (known, known)
    assert mean_difference([], []) is None


def test_the_bootstrap_of_columns_is_scipys() -> None:
    """Of equal weights the bounds are those of scipy's percentile bootstrap, nearly."""
    draw = numpy.random.default_rng(1)
    values = draw.random((60, 2))
    ours = bootstrap_means(values, numpy.ones(60), resamples=4_000, seed=3)
    for column, interval in enumerate(ours):
        reference = stats.bootstrap(
            (values[:, column],), numpy.mean, n_resamples=4_000, method="percentile"
        ).confidence_interval
        assert interval is not None
        assert interval.low == pytest.approx(reference.low, abs=0.01)
        assert interval.high == pytest.approx(reference.high, abs=0.01)


def test_rows_without_a_weight_do_not_count_in_a_bootstrap() -> None:
    """A row of weight 0 moves no bound; fewer than two others have no interval."""
    values = numpy.array([[1.0], [1.0], [0.0]])
    (interval,) = bootstrap_means(values, numpy.array([2.0, 3.0, 0.0]))
    assert interval is not None
    assert (interval.low, interval.high) == (1.0, 1.0)
    assert bootstrap_means(values, numpy.array([1.0, 0.0, 0.0])) == [None]
