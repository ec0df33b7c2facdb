"""The orders of the benchmark: splits, ids, configs; names on the Hub."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import (
    CONFIGS,
    SPLITS,
    assign_split,
    in_benchmark_order,
    natural_key,
    split_bounds,
)
from curation.core.hub_names import dataset_name, model_name
from tests.made import sha256


def test_splits_take_their_shares() -> None:
    """Of many keys about 60, 10 and 30 of a hundred go to the three splits."""
    counts = Counter(assign_split(sha256(str(number))[:16]) for number in range(10_000))
    shares = [counts[split] / 100 for split in SPLITS]
    assert shares == pytest.approx([60, 10, 30], abs=1.5)


def test_the_bounds_of_the_splits() -> None:
    """The first and the last key are in the first and the last split."""
    assert assign_split("0" * 16) == "train"
    assert assign_split("f" * 16) == "test"


@pytest.mark.parametrize("split", SPLITS)
def test_the_bounds_of_a_split_are_its_own_keys(split: str) -> None:
    """The least and the greatest key belong to it, their neighbours do not."""
    lower, upper = split_bounds(split)
    keys = [f"{number:016x}" for number in (lower - 1, lower, upper - 1, upper)]
    inside = [assign_split(key) == split for key in keys if 0 <= int(key, 16) < 2**64]
    outside_first, outside_last = lower == 0, upper == 2**64
    wanted = [False] * (not outside_first) + [True, True] + [False] * (not outside_last)
    assert inside == wanted


@given(st.text(), st.text())
def test_natural_keys_differ_where_texts_do(one: str, other: str) -> None:
    """Sorting by the key is a total order, so no tie depends on the input."""
    assert (natural_key(one) == natural_key(other)) == (one == other)


@given(st.lists(st.text()))
def test_natural_order_can_always_be_found(texts: list[str]) -> None:
    """Any two keys compare, in whatever script their texts are."""
    backwards = texts[::-1]
    assert sorted(texts, key=natural_key) == sorted(backwards, key=natural_key)


def test_numbers_count_as_numbers() -> None:
    """Digits compare by value, and equal values by their leading zeros."""
    mixed = ["kb_10_a", "kb_10", "kb_02", "kb_2"]
    assert sorted(mixed, key=natural_key) == mixed[::-1]


def test_a_number_may_have_any_length() -> None:
    """Python reads no more than 4,300 digits as one."""
    texts = ["x" + "1" * 5_000 + "0", "x2", "x" + "1" * 5_000]
    assert sorted(texts, key=natural_key) == [texts[1], texts[2], texts[0]]
    assert len({natural_key(text) for text in texts}) == 3


def test_extras_come_last() -> None:
    """The ten configs keep their order; others follow by name."""
    assert in_benchmark_order(["b", "Snowplow", "a", *CONFIGS[:1]]) == [
        CONFIGS[0],
        "Snowplow",
        "a",
        "b",
    ]


@pytest.mark.parametrize("prefix", ["", "hf://datasets/"])
def test_a_dataset_is_an_owner_and_a_name(prefix: str) -> None:
    """With or without a revision, which may hold slashes."""
    assert dataset_name(f"{prefix}a/b") == ("a/b", None)
    assert dataset_name(f"{prefix}a/b.c@refs/pr/1") == ("a/b.c", "refs/pr/1")


@pytest.mark.parametrize("prefix", ["", "hf://", "hf://models/"])
def test_a_model_is_an_owner_and_a_name(prefix: str) -> None:
    """With or without a revision."""
    assert model_name(f"{prefix}a/b@v1") == ("a/b", "v1")


@pytest.mark.parametrize(
    "text", ["", "a", "a/b/c", "a/b@", "/a/b", "s3://a/b", "hf://spaces/a/b", "a b/c"]
)
def test_anything_else_is_no_name(text: str) -> None:
    """A path, another scheme, a sentence."""
    assert dataset_name(text) is None
    assert model_name(text) is None
