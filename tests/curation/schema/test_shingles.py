"""Shingles, signatures and clusters of near-duplicates."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import SPLITS, assign_split
from curation.schema import near_duplicates
from curation.schema import shingles as module
from curation.schema.near_duplicates import clusters
from curation.schema.shingles import shingles, split_key, unpack_hashes
from tests.curation.schema.test_measures import VALUES

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

KEYS = ["adcdc35adb6fa92e", "ce56802cd99db715", "5304efd8e1b74429"]


def wide(*extra: str) -> UntypedJson:
    """Return a schema of forty properties, and of one more for each name."""
    names = [f"p{number}" for number in range(40)] + list(extra)
    return {"properties": {name: {"type": "string"} for name in names}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": [1, 2]}, {"a": [2, 1, 1]}),
        ({"a": 1.0}, {"a": 1}),
        ({"b": 1, "a": {"c": "x"}}, {"a": {"c": "x"}, "b": 1}),
    ],
)
def test_order_copies_and_spelling_are_no_difference(
    one: UntypedJson, other: UntypedJson
) -> None:
    """Positions in arrays, repeated items, member order and 1.0 count for nothing."""
    assert shingles(one) == shingles(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        ({"a": {}}, {"a": []}),
        ({"a": {}}, {}),
        ({"a": {"b": None}}, {"a": {"c": None}}),
        ({"a": 2**53}, {"a": 2**53 + 1}),
    ],
)
def test_another_value_is_another_shingle(one: UntypedJson, other: UntypedJson) -> None:
    """Types, names, empty containers and large integers are told apart."""
    assert shingles(one) != shingles(other)


@given(VALUES)
def test_every_value_has_shingles_and_one_split(value: UntypedJson) -> None:
    """Sorted, each once, at least one; and the key is one of 64 bits."""
    found = unpack_hashes(shingles(value))
    assert list(found) == sorted(set(found))
    assert found
    assert assign_split(split_key(shingles(value))) in {"train", "val", "test"}


def test_the_split_never_changes() -> None:
    """What a release has published stays: the keys of three schemas, written down."""
    schemas: list[UntypedJson] = [{}, {"type": "object"}, wide()]
    keys = [split_key(shingles(schema)) for schema in schemas]
    assert keys == KEYS


def test_listed_min_hashes_have_the_split_of_the_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list decides, and the split of others is drawn."""
    packed = shingles(wide())
    drawn = split_key(packed)
    least = min(number * module._ORDER % 2**64 for number in unpack_hashes(packed))
    for split in SPLITS:
        monkeypatch.setattr(module, "_dealt", lambda: {f"{least:016x}": split})  # noqa: B023 (called in this round)
        assert assign_split(split_key(packed)) == split
    monkeypatch.setattr(module, "_dealt", lambda: {"0" * 16: "val"})
    assert split_key(packed) == drawn


def test_the_list_names_splits() -> None:
    """Each min-hash once, in order, with one of the three."""
    listed = module._dealt()
    assert list(listed) == sorted(listed)
    assert set(listed.values()) <= set(SPLITS)
    assert all(len(least) == 16 and int(least, 16) for least in listed)


def test_near_duplicates_mostly_share_a_split() -> None:
    """Of 400 pairs with forty of forty-one shingles in common few part."""
    parted = 0
    for number in range(400):
        base = json.loads(json.dumps(wide()).replace('"p', f'"p{number}_'))
        more = {**base, "more": {"type": "null"}}
        keys = {split_key(shingles(schema)) for schema in (base, more)}
        parted += len(keys) - 1
    assert parted < 400 * 3 / 41


def test_clusters_are_what_near_pairs_connect() -> None:
    """Each named by its smallest digest; a chain is one cluster, the rest alone."""
    chain = [wide(*"abcdefgh"[:length]) for length in (0, 4, 8)]
    far: UntypedJson = {"type": "null"}
    packed = [shingles(schema) for schema in (*chain, far, chain[0])]
    assert clusters(list("dbcea"), packed.__getitem__) == ["a", "a", "a", "e", "a"]
    ends = [packed[0], packed[2]]
    assert clusters(["x", "y"], ends.__getitem__) == ["x", "y"]


def test_the_threshold_itself_is_near() -> None:
    """36 of 40 shingles in common are nine of ten, 35 are not."""
    whole = wide()["properties"]
    digests = ["x", "y"]
    for fewer, same in ((36, True), (35, False)):
        part: UntypedJson = {"properties": dict(list(whole.items())[:fewer])}
        packed = [shingles(wide()), shingles(part)]
        found = clusters(digests, packed.__getitem__)
        assert (len(set(found)) == 1) is same


def test_a_large_group_is_clustered_as_all_its_pairs_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A few pairs at a time, and in any order, as if each pair had been compared."""
    monkeypatch.setattr(near_duplicates, "_PAIRS", 64)
    drawn = random.Random(21)
    lists = [[drawn.randbytes(8) for _ in range(60)]]
    for _ in range(79):
        # A copy of one before, of which one to five shingles of sixty are others.
        own = drawn.choice(lists).copy()
        for place in drawn.sample(range(60), drawn.randint(1, 5)):
            own[place] = drawn.randbytes(8)
        lists.append(own)
    sets = [frozenset(own) for own in lists]
    connected = {number: number for number in range(len(sets))}
    for one, other in combinations(range(len(sets)), 2):
        common = len(sets[one] & sets[other])
        if common >= 0.9 * len(sets[one] | sets[other]):
            gone, head = connected[other], connected[one]
            connected = {
                number: head if own == gone else own
                for number, own in connected.items()
            }
    names = [f"{number:02}" for number in range(len(sets))]
    wanted = [
        min(names[other] for other in connected if connected[other] == connected[one])
        for one in connected
    ]
    packed = [b"".join(sorted(own)) for own in sets]
    assert 5 < len(set(wanted)) < 60
    assert clusters(names, packed.__getitem__) == wanted
    assert clusters(names[::-1], packed[::-1].__getitem__) == wanted[::-1]


def test_no_record_has_no_cluster() -> None:
    """An empty build has none."""
    assert clusters([], [].__getitem__) == []


def packed(numbers: set[int]) -> bytes:
    """Return a record's shingles, as `shingles` gives them."""
    return b"".join(number.to_bytes(8) for number in sorted(numbers))


def pairs_of(sets: list[set[int]]) -> set[tuple[int, int]]:
    """Return the pairs that share a group."""
    own = [packed(numbers) for numbers in sets]
    found = near_duplicates.rare_groups(len(sets), own.__getitem__)
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
    monkeypatch.setattr(near_duplicates, "_COUNTS", counts)
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
