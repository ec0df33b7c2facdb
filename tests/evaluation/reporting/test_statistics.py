"""The statistics against their references, and the laws that they keep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.reporting.statistics import (
    PERCENTILES,
    Quantiles,
    geometric_ratio,
    holm,
    index_percentile,
    mcnemar,
    mean_difference,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

numpy = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

_TIMES = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=60)
_COUNTS = st.integers(0, 400)


@given(_COUNTS, _COUNTS)
def test_wilson_is_wilsons(one: int, other: int) -> None:
    """Both bounds are scipy's for every count, the ends included."""
    count, of = min(one, other), max(one, other)
    assume(of)
    found = wilson(count, of)
    reference = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert found is not None
    assert math.isclose(found.low, reference.low, abs_tol=1e-12)
    assert math.isclose(found.high, reference.high, abs_tol=1e-12)
    assert 0 <= found.low <= count / of <= found.high <= 1


def test_wilson_of_nothing_is_nothing() -> None:
    """No share of no whole, and no share beyond the whole."""
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="5"):
        wilson(5, 4)


@given(_COUNTS, _COUNTS)
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    """The exact test: discordant pairs against a fair coin; symmetric."""
    found = mcnemar(only_a, only_b)
    assert found == mcnemar(only_b, only_a)
    if only_a + only_b:
        reference = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
        assert math.isclose(found, reference, rel_tol=1e-9)
    else:
        assert found == 1


def test_mcnemar_of_many_is_small_but_no_fault() -> None:
    """Thousands of discordant pairs are computed in whole numbers."""
    assert 0 <= mcnemar(0, 9_000) < 1e-300
    assert mcnemar(4_500, 4_500) == 1
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_helps(ps: dict[str, float]) -> None:
    """Adjusted values are no smaller, at most 1, and in the same order."""
    found = holm(ps)
    assert list(found) == list(ps)
    assert all(ps[name] <= found[name] <= 1 for name in ps)
    ordered = sorted(ps, key=lambda name: ps[name])
    assert [found[name] for name in ordered] == sorted(found.values())


def test_holm_by_hand() -> None:
    """The example of three: 0.01 x 3, 0.02 x 2, then what came before."""
    found = holm({"a": 0.04, "b": 0.01, "c": 0.02})
    assert found == {"a": 0.04, "b": 0.03, "c": 0.04}


@given(_TIMES, st.sampled_from(PERCENTILES))
def test_quantiles_are_numpys(values: list[float], percent: float) -> None:
    """Without time-outs: linear interpolation, as numpy does by default."""
    found = Quantiles.of(values).at(percent)
    assert found is not None
    assert not found.at_least
    assert math.isclose(found.value, numpy.percentile(values, percent))


@given(_TIMES, _TIMES, st.floats(1, 100), st.sampled_from(PERCENTILES))
def test_a_time_out_only_ever_hides_what_is_larger(
    values: list[float], bounds: list[float], factor: float, percent: float
) -> None:
    """Whatever the cut-off values would have been: bounds hold, figures are exact."""
    found = Quantiles.of(values, bounds).at(percent)
    truth = numpy.percentile([*values, *(each * factor for each in bounds)], percent)
    assert found is not None
    if found.at_least:
        assert truth >= found.value or math.isclose(truth, found.value)
    else:
        assert math.isclose(truth, found.value)


def test_quantiles_of_nothing_are_nothing() -> None:
    """No value has neither a median nor a share above it."""
    assert Quantiles.of([]).at(50) is None
    assert Quantiles.of([]).share_above(1) is None
    with pytest.raises(ValueError, match="101"):
        Quantiles.of([1]).at(101)


def test_all_cut_off_has_a_lower_bound_only() -> None:
    """Where nothing came back every quantile is at least the deadline."""
    found = Quantiles.of([], [40e9, 40e9]).at(50)
    assert found is not None
    assert (found.value, found.at_least) == (40e9, True)


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (50, 3), (74, 3), (75, 4), (99.9, 4), (100, 4)]
)
def test_maskbench_takes_the_value_at_the_index(percent: float, value: float) -> None:
    """Its rule is int(n * p / 100), the last value for all of them."""
    assert index_percentile([1, 2, 3, 4], percent) == value
    assert index_percentile([], percent) is None


def test_a_ratio_of_itself_is_one() -> None:
    """Equal figures have the ratio 1, and so has its interval."""
    found = geometric_ratio([1, 2, 3], [1, 2, 3])
    assert found is not None
    assert found.value == 1
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, 1)


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=2))
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
    first, again, other = (geometric_ratio(a, b, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    mean, between = mean_difference(a, b) or (0, None)
    assert between is not None
    assert between.low < mean < between.high


def test_a_bootstrap_is_scipys() -> None:
    """The same interval as scipy's percentile bootstrap, but for the draws."""
    drawn = numpy.random.default_rng(3).lognormal(0, 1, 300)
    _, between = mean_difference([0.0] * 300, drawn.tolist()) or (0, None)
    reference = stats.bootstrap(
        (drawn,), numpy.mean, method="percentile", rng=numpy.random.default_rng(4)
    ).confidence_interval
    assert between is not None
    width = reference.high - reference.low
    assert abs(between.low - reference.low) < width / 20
    assert abs(between.high - reference.high) < width / 20


def test_a_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    """Of 200 samples with mean 1 some 95 % have it in their interval."""
    rng = numpy.random.default_rng(7)
    covered = 0
    for seed in range(200):
        drawn = rng.normal(1, 1, 60).tolist()
        _, between = mean_difference([0.0] * 60, drawn, seed) or (0, None)
        assert between is not None
        covered += between.low <= 1 <= between.high
    assert 180 <= covered <= 199
