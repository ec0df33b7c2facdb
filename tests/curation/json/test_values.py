"""JSON values: types, equality, walks, and texts remembered by object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from curation.json.pointer import at
from curation.json.text import SpelledFloat
from curation.json.values import (
    identity,
    is_multiple,
    is_number,
    objects,
    remembered,
    searchable,
    tokens,
    type_of,
)
from tests.curation.schema.test_measures import VALUES

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (False, "boolean"),
        ("1", "string"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_every_value_has_one_type(value: Json, kind: str) -> None:
    """A number without a fraction is an integer, a boolean is no number."""
    assert type_of(value) == kind
    assert is_number(value) == (kind in ("integer", "number"))


def test_equal_values_have_one_identity() -> None:
    """1 is 1.0 at any depth, but true is not 1, and "1" is neither."""
    assert identity({"a": [1]}) == identity({"a": [1.0]})
    assert len({identity(value) for value in (1, True, "1", None)}) == 4


def test_multiples_are_those_of_decimals() -> None:
    """0.3 is three times 0.1, which binary fractions deny."""
    assert is_multiple(0.3, 0.1)
    assert not is_multiple(0.35, 0.1)


def test_the_same_object_is_asked_about_once() -> None:
    """The work is done once for one object, and its answer handed out again."""
    calls: list[int] = []

    @remembered
    def total(numbers: list[int], more: int) -> list[int]:
        calls.append(more)
        return [sum(numbers) + more]

    numbers = [1, 2]
    assert total(numbers, 3) == [6]
    assert total(numbers, 3) is total(numbers, 3)
    assert calls == [3]


def test_an_equal_object_is_another_one() -> None:
    """`1` and `1.0` are equal in Python and are not in a schema's text."""
    one: list[float] = [1]
    other: list[float] = [1.0]
    shown = remembered(lambda value, mark: repr(value) + str(mark))
    assert (shown(one, "!"), shown(other, "!")) == ("[1]!", "[1.0]!")


def test_what_is_long_ago_is_forgotten_and_found_anew() -> None:
    """A new object never gets the answer of one that stood at its address."""

    @remembered
    def size(value: list[int], more: int) -> int:
        return len(value) + more

    assert all(size([0] * length, 1) == length + 1 for length in range(200))


def count(value: UntypedJson) -> int:
    """Return how many objects a value holds, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else 0


@given(VALUES)
def test_every_object_is_met_where_its_trail_says(value: UntypedJson) -> None:
    """Each once, and at the place that the tokens lead to."""
    found = list(objects(value))
    assert len(found) == count(value)
    assert all(at(value, tokens(trail)) is each for trail, each in found)


def test_objects_come_in_the_order_they_stand() -> None:
    """Outer ones before inner ones, earlier before later."""
    value: UntypedJson = {"a": [{"b": {}}, {"c": 1}], "d": {}}
    met = [tokens(trail) for trail, _ in objects(value)]
    assert met == [(), ("a", "0"), ("a", "0", "b"), ("a", "1"), ("d",)]


def test_deep_values_are_walked_without_recursion() -> None:
    """Deeper than the interpreter's stack."""
    value: UntypedJson = {}
    for _ in range(5_000):
        value = [{"a": value}]
    *_, (trail, _) = objects(value)
    assert len(tokens(trail)) == 10_000


@given(VALUES)
def test_the_text_to_search_is_json_text_of_the_value(value: UntypedJson) -> None:
    """Without whitespace outside strings; equal when read again."""
    assert json.loads(searchable(value)) == value


def test_any_number_can_be_searched_past() -> None:
    """Spelled ones and those past 64 bits are written in some way."""
    assert searchable([SpelledFloat("1.00"), {"a": "b"}]) == b'[1.0,{"a":"b"}]'
    assert searchable([10**30, {"a": "é"}]) == b'[1%s,{"a":"\xc3\xa9"}]' % (b"0" * 30)
