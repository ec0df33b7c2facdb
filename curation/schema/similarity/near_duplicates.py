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
    joined = list(range(len(distinct)))
    own = OnDemand(len(firsts), lambda place: shingles[firsts[place]])
    for one, other in _near_pairs(own):
        joined[_head(joined, one)] = _head(joined, other)
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


def _near_pairs(shingles: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the pairs, by their positions, that are near-duplicates."""
    if not shingles:
        return
    index = rensa.RMinHashLSH(
        threshold=LEAST_IN_COMMON, num_perm=_HASHES, num_bands=_BANDS
    )
    signatures: list[rensa.RMinHash] = []
    lengths = array("Q")
    for start in range(0, len(shingles), _TOGETHER):
        places = range(start, min(start + _TOGETHER, len(shingles)))
        some = [shingles[place] for place in places]
        lengths.extend(len(packed) for packed in some)
        signatures += rensa.RMinHash.from_token_sets(
            [
                [packed[at : at + 8] for at in range(0, len(packed), 8)]
                for packed in some
            ],
            num_perm=_HASHES,
            seed=_SEED,
        )
    index.insert_many(signatures)
    held = lru_cache(_HELD)(lambda place: frozenset(hashes_of(shingles[place])))
    for start in range(0, len(signatures), _TOGETHER):
        found = index.query_all(signatures[start : start + _TOGETHER])
        for one, others in enumerate(found, start):
            for other in others:
                if (
                    other > one
                    and _alike_in_number(lengths[one], lengths[other])
                    and _near(held(one), held(other))
                ):
                    yield one, other


def _alike_in_number(one: int, other: int) -> bool:
    fewer, more = sorted((one, other))
    return fewer >= LEAST_IN_COMMON * more


def _near(one: frozenset[int], other: frozenset[int]) -> bool:
    common = len(one & other)
    return common >= LEAST_IN_COMMON * (len(one) + len(other) - common)
