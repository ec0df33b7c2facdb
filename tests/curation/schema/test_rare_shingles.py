"""Groups by rare shingles: no pair of near-duplicates is lost, and others are."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.schema.similarity import rare_shingles


def packed(numbers: set[int]) -> bytes:
    """Return a record's shingles, as `shingles` gives them."""
    return b"".join(number.to_bytes(8) for number in sorted(numbers))


def pairs_of(sets: list[set[int]]) -> set[tuple[int, int]]:
    """Return the pairs that share a group."""
    found = rare_shingles.groups([packed(numbers) for numbers in sets])
    return {pair for group in found for pair in combinations(group.tolist(), 2)}


def near_pairs_of(sets: list[set[int]]) -> set[tuple[int, int]]:
    """Return the pairs with nine of ten in common, each compared."""
    return {
        (one, other)
        for one, other in combinations(range(len(sets)), 2)
        if 10 * len(sets[one] & sets[other]) >= 9 * len(sets[one] | sets[other])
    }


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 40), max_size=4), st.integers(1, 40)),
        min_size=1,
        max_size=12,
    )
)
def test_every_pair_of_near_duplicates_shares_a_group(
    edits: list[tuple[set[int], int]],
) -> None:
    """Whatever a few records leave out of one, and however long they are."""
    sets = [set(range(100, 100 + size)) ^ edit for edit, size in edits]
    assert near_pairs_of(sets) <= pairs_of(sets)


@pytest.mark.parametrize("counts", [1, 7, 2**24])
def test_a_bad_order_loses_no_pair(
    counts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shingles that are counted together make groups larger, and no more."""
    monkeypatch.setattr(rare_shingles, "_COUNTS", counts)
    drawn = random.Random(21)
    sets = []
    for _ in range(60):
        numbers = {number * 0x9E3779B97F4A7C15 % 2**64 for number in range(40)}
        for number in drawn.sample(sorted(numbers), drawn.randint(0, 3)):
            numbers ^= {number, drawn.getrandbits(64)}
        sets.append(numbers)
    near = near_pairs_of(sets)
    assert near
    assert near <= pairs_of(sets)


@pytest.mark.parametrize("size", [10, 20, 50])
def test_a_part_of_nine_tenths_shares_a_group_with_the_whole(size: int) -> None:
    """Though what it leaves out are the rarest shingles of the whole."""
    whole = set(range(size))
    part = set(range(size // 10, size))
    less = set(range(size // 10 + 1, size))
    assert pairs_of([whole, part]) == {(0, 1)}
    assert pairs_of([whole, less]) == set()


def test_families_are_told_apart() -> None:
    """Records with three quarters in common are in groups of their own family."""
    drawn = random.Random(22)
    common = {drawn.getrandbits(64) for _ in range(60)}
    sets = []
    for _ in range(8):
        family = common | {drawn.getrandbits(64) for _ in range(20)}
        sets += [family | {drawn.getrandbits(64)} for _ in range(5)]
    assert pairs_of(sets) == near_pairs_of(sets)
