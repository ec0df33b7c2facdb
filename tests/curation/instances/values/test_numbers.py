"""Numbers of bounds and multiples."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.instances.values.numbers import (
    Number,
    NumberConstraints,
    fits,
    make_number,
)

BOUNDS = st.none() | st.one_of(
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6).map(lambda each: round(each, 3)),
    st.sampled_from([0, 0.1, 1e-9, 2**53, 2**63, -(2**63), 1e22, 1e308, -1e308]),
)
STEPS = st.lists(
    st.sampled_from([1, 2, 7, 0.5, 0.25, 0.1, 0.01, 1e-5, 7.5, 1.0, 100]), max_size=2
)


def as_schema(shape: NumberConstraints) -> dict[str, Any]:
    """Return the schema that says the same."""
    bounds = {
        "minimum": shape.minimum,
        "maximum": shape.maximum,
        "exclusiveMinimum": shape.exclusive_minimum,
        "exclusiveMaximum": shape.exclusive_maximum,
    }
    return {
        "type": "integer" if shape.integer else "number",
        "allOf": [{}, *({"multipleOf": each} for each in shape.multiples)],
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


@given(
    integer=st.booleans(),
    bounds=st.tuples(BOUNDS, BOUNDS, BOUNDS, BOUNDS),
    steps=STEPS,
    name=st.sampled_from(["", "price", "latitude", "count"]),
    seed=st.integers(0, 20),
)
def test_both_validators_accept_what_is_chosen(
    integer: bool,  # noqa: FBT001 - drawn
    bounds: tuple[Number | None, ...],
    steps: list[Number],
    name: str,
    seed: int,
) -> None:
    """A chosen number is valid for jsonschema-rs and for jsonschema."""
    shape = NumberConstraints(
        integer=integer,
        minimum=bounds[0],
        maximum=bounds[1],
        exclusive_minimum=bounds[2],
        exclusive_maximum=bounds[3],
        multiples=tuple(steps),
        name=name,
    )
    number = make_number(shape, random.Random(seed))
    assert make_number(shape, random.Random(seed)) == number
    if number is not None:
        schema = as_schema(shape)
        assert fits(shape, number)
        assert jsonschema_rs.Draft7Validator(schema).is_valid(number)
        assert jsonschema.Draft7Validator(schema).is_valid(number)


@given(low=st.integers(-(10**20), 10**20), span=st.integers(0, 10**20))
def test_a_range_of_integers_is_never_empty(low: int, span: int) -> None:
    """Between two integers there is one."""
    shape = NumberConstraints(integer=True, minimum=low, maximum=low + span)
    number = make_number(shape, random.Random(span))
    assert number is not None
    assert low <= number <= low + span


@given(low=st.floats(-1e300, 1e300), factor=st.floats(1e-6, 10))
def test_a_range_of_numbers_is_never_empty(low: float, factor: float) -> None:
    """Between two numbers that differ by more than a trifle there is one."""
    high = low + max(abs(low), 1e-3) * factor
    shape = NumberConstraints(exclusive_minimum=low, exclusive_maximum=high)
    assert make_number(shape, random.Random(0)) is not None


@pytest.mark.parametrize("step", [0.01, 0.1, 0.05, 1e-5, 0.3, 1.1])
def test_fractions_are_met_as_floats_divide(step: float) -> None:
    """Multiples of a fraction are found, and not only one."""
    shape = NumberConstraints(minimum=0, multiples=(step,))
    numbers = {make_number(shape, random.Random(seed)) for seed in range(20)}
    assert None not in numbers
    assert len(numbers) > 3


@pytest.mark.parametrize(
    "shape",
    [
        NumberConstraints(minimum=2, maximum=1),
        NumberConstraints(integer=True, exclusive_minimum=1, exclusive_maximum=2),
        NumberConstraints(minimum=1, maximum=4, multiples=(5,)),
        NumberConstraints(exclusive_minimum=3, maximum=3),
    ],
)
def test_an_empty_range_is_none(shape: NumberConstraints) -> None:
    """Where no number is, none is chosen."""
    assert make_number(shape, random.Random(0)) is None


def test_a_single_number_is_found() -> None:
    """The only number of a range is chosen, however it is written."""
    for bound in (0.1, 1e-9, 12345678.9, -7, 1e22):
        shape = NumberConstraints(minimum=bound, maximum=bound)
        assert make_number(shape, random.Random(0)) == bound


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("latitude", -90, 90), ("port", 1024, 49151), ("birthYear", 1990, 2026)],
)
def test_names_of_properties_decide_the_range(name: str, low: int, high: int) -> None:
    """A number is what the property's name says, within its bounds."""
    for seed in range(10):
        number = make_number(NumberConstraints(name=name), random.Random(seed))
        assert number is not None
        assert low <= number <= high
    bound = NumberConstraints(name=name, minimum=10**6)
    assert (make_number(bound, random.Random(0)) or 0) >= 10**6


def test_formats_of_integers_are_respected() -> None:
    """A number of a sized format is within its size where the bounds allow."""
    shape = NumberConstraints(integer=True, format="uint8", minimum=200)
    assert {make_number(shape, random.Random(seed)) for seed in range(99)} <= set(
        range(200, 256)
    )
