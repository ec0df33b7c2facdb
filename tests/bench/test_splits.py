"""Twins and shares, counted by code of the bench's own."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bench.data.splits import leaks, pairs, shares, twins

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_every_pair_of_twins_is_found() -> None:
    """Prefix filtering loses none of those that comparing all with all finds."""
    drawn = random.Random(18)
    pool = [(f"p{number}", "1") for number in range(60)]
    records = []
    for _ in range(30):
        base = drawn.sample(pool, drawn.randint(1, 40))
        records += [
            frozenset(drawn.sample(base, max(1, len(base) - cut))) for cut in range(4)
        ]
    wanted = {
        (one, other)
        for one, left in enumerate(records)
        for other, right in enumerate(records)
        if one < other and len(left & right) >= 0.9 * len(left | right)
    }
    assert {(min(pair), max(pair)) for pair in twins(records)} == wanted
    assert wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"title": "a", "type": "null"}, {"type": "null", "$id": "http://b"}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"items": [{"title": "x", "type": "null"}]}, {"items": [{"type": "null"}]}),
    ],
)
def test_annotations_and_positions_count_for_nothing(
    one: UntypedJson, other: UntypedJson
) -> None:
    """Where they stand as keywords."""
    assert set(pairs(one)) == set(pairs(other))


def test_a_property_may_be_called_title() -> None:
    """A name is no keyword, and the members of data are none."""
    assert len(set(pairs({"properties": {"title": {"type": "null"}}}))) == 1
    assert len(set(pairs({"enum": [{"title": "a"}]}))) == 1


def test_test_records_with_a_train_twin_are_counted_once() -> None:
    """Two twins in train are one leak; twins in val are none."""
    record = frozenset({("a", "1")})
    other = frozenset({("b", "1")})
    splits = ["test", "train", "train", "val", "test"]
    assert leaks(splits, [record, record, record, other, other]) == 1


def test_shares_are_of_large_configs() -> None:
    """In points of a hundred away from 60, 10 and 30."""
    splits = ["train"] * 189 + ["val"] * 30 + ["test"] * 81
    found = shares(["large"] * 300 + ["small"], [*splits, "val"])
    assert found == {"points_away": {"large": 3.0}, "most_points_away": 3.0}
