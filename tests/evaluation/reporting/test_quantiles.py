"""Quantiles against numpy's, and what a deadline hides in them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.quantiles import PERCENTILES, Quantiles

numpy = pytest.importorskip("numpy")

_TIMES = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=60)


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
