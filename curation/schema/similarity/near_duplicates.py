"""Near-duplicate clusters: which records of a build say nearly the same.

Two records are near-duplicates where nine of ten of their shingles are the same
(`curation.schema.similarity.shingles`): MinHash proposes the pairs, the shingles
themselves decide. A cluster is what such pairs connect, and has the name of its
smallest record digest.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING, overload

import rensa

from curation.schema.similarity.shingles import hashes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The least share of shingles in common (Jaccard index) of two near-duplicates.
LEAST_IN_COMMON = 0.9
# A pair at the threshold shares one band of 5 of the 160 hashes, and so is proposed,
# but once in some 10^12 times: (1 - 0.9^5)^32.
_HASHES = 160
_BANDS = 32
_SEED = 18
_BAND = _HASHES // _BANDS * 8
# Records whose shingles are taken apart together, and those held as sets of numbers.
_TOGETHER = 1_000
_HELD = 1_000


class OnDemand(Sequence[bytes]):
    """A sequence whose items are read, or made, each time they are asked for.

    Example:
        >>> list(OnDemand(2, lambda place: str(place).encode()))
        [b'0', b'1']
    """

    def __init__(self, length: int, item: Callable[[int], bytes]) -> None:
        """Take the number of items, and what gives each by its place."""
        self._length = length
        self._item = item

    def __len__(self) -> int:
        """Return the number of items."""
        return self._length

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        """Return an item, or those of a slice."""
        found = range(self._length)[place]
        if isinstance(found, int):
            return self._item(found)
        return [self._item(one) for one in found]


def clusters(digests: Sequence[str], shingles: Sequence[bytes]) -> list[str]:
    """Return the name of the cluster of each record.

    Args:
        digests: The sha256 of each record's canonical form; records may share one.
        shingles: What `curation.schema.similarity.shingles.shingles` says of each; a
            few are held at a time.

    Example:
        >>> clusters(["b", "a", "c"], [bytes(8), bytes(8), bytes(7) + b"x"])
        ['a', 'a', 'c']
    """
    firsts: list[int] = []
    distinct: dict[bytes, int] = {}
    places = []
    for position, packed in enumerate(shingles):
        place = distinct.setdefault(blake2b(packed).digest(), len(distinct))
        if place == len(firsts):
            firsts.append(position)
        places.append(place)
    del distinct
    own = OnDemand(len(firsts), lambda place: shingles[firsts[place]])
    joined = list(range(len(own)))
    held = lru_cache(_HELD)(lambda place: frozenset(hashes_of(own[place])))
    for one, other in _proposed_pairs(own):
        heads = _head(joined, one), _head(joined, other)
        # Whatever is connected already stays so, near or not.
        if heads[0] != heads[1] and _near(held(one), held(other)):
            joined[heads[0]] = heads[1]
    names: dict[int, str] = {}
    for digest, place in zip(digests, places, strict=True):
        head = _head(joined, place)
        names[head] = min(names.get(head, digest), digest)
    return [names[_head(joined, place)] for place in places]


def _head(joined: list[int], place: int) -> int:
    """Return the member that stands for the set of a place; shorten the way to it."""
    while joined[place] != place:
        joined[place] = joined[joined[place]]
        place = joined[place]
    return place


def _proposed_pairs(shingles: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield pairs, by their positions, that have a band of hashes in common.

    In memory are eight bytes a band of each, and one band's table at a time.
    """
    bands = [array("q") for _ in range(_BANDS)]
    lengths = array("Q")
    for start in range(0, len(shingles), _TOGETHER):
        places = range(start, min(start + _TOGETHER, len(shingles)))
        some = [shingles[place] for place in places]
        lengths.extend(len(packed) for packed in some)
        for signature in rensa.RMinHash.from_token_sets(
            [
                [packed[at : at + 8] for at in range(0, len(packed), 8)]
                for packed in some
            ],
            num_perm=_HASHES,
            seed=_SEED,
        ):
            hashes = array("Q", signature.digest()).tobytes()
            for band, at in zip(bands, range(0, len(hashes), _BAND), strict=True):
                # Differs from run to run, but what is equal stays so.
                band.append(hash(hashes[at : at + _BAND]))
    while bands:
        groups: dict[int, list[int]] = {}
        seen: dict[int, int] = {}
        for place, key in enumerate(bands.pop()):
            first = seen.setdefault(key, place)
            if first != place:
                groups.setdefault(key, [first]).append(place)
        for group in groups.values():
            for one, other in combinations(group, 2):
                if _alike_in_number(lengths[one], lengths[other]):
                    yield one, other


def _alike_in_number(one: int, other: int) -> bool:
    fewer, more = sorted((one, other))
    return fewer >= LEAST_IN_COMMON * more


def _near(one: frozenset[int], other: frozenset[int]) -> bool:
    common = len(one & other)
    return common >= LEAST_IN_COMMON * (len(one) + len(other) - common)
