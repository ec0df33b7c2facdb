"""Walking every object of a value, and the text to look at first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given

from curation.json.objects import objects, searchable, tokens
from curation.json.pointer import at
from curation.json.text import SpelledFloat
from tests.curation.schema.test_measures import VALUES

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


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
