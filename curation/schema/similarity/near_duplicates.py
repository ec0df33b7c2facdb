"""Near-duplicate clusters: which records of a build say nearly the same.

Two records are near-duplicates where nine of ten of their shingles are the same
(`curation.schema.similarity.shingles`): MinHash proposes the pairs, the shingles
themselves decide. A cluster is what such pairs connect, and has the name of its
smallest record digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import rensa

from curation.schema.similarity.shingles import hashes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The least share of shingles in common (Jaccard index) of two near-duplicates.
LEAST_IN_COMMON = 0.9
# A pair at the threshold shares one band of 5 of the 160 hashes, and so is proposed,
# but once in some 10^12 times: (1 - 0.9^5)^32.
_HASHES = 160
_BANDS = 32
_SEED = 18


def clusters(digests: Sequence[str], shingles: Sequence[bytes]) -> list[str]:
    """Return the name of the cluster of each record.

    Args:
        digests: The sha256 of each record's canonical form; records may share one.
        shingles: What `curation.schema.similarity.shingles.shingles` says of each.

    Example:
        >>> clusters(["b", "a", "c"], [bytes(8), bytes(8), bytes(7) + b"x"])
        ['a', 'a', 'c']
    """
    distinct: dict[bytes, int] = {}
    places = [distinct.setdefault(packed, len(distinct)) for packed in shingles]
    joined = list(range(len(distinct)))
    for one, other in _near_pairs(list(distinct)):
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
    hashes = [hashes_of(packed) for packed in shingles]
    index = rensa.RMinHashLSH(
        threshold=LEAST_IN_COMMON, num_perm=_HASHES, num_bands=_BANDS
    )
    signatures = rensa.RMinHash.from_token_sets(
        [
            [packed[at : at + 8] for at in range(0, len(packed), 8)]
            for packed in shingles
        ],
        num_perm=_HASHES,
        seed=_SEED,
    )
    index.insert_many(signatures)
    sets: dict[int, frozenset[int]] = {}
    for one, found in enumerate(index.query_all(signatures)):
        for other in found:
            if other > one and _alike_in_number(hashes[one], hashes[other]):
                for place in (one, other):
                    if place not in sets:
                        sets[place] = frozenset(hashes[place])
                if _near(sets[one], sets[other]):
                    yield one, other


def _alike_in_number(one: Sequence[int], other: Sequence[int]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    return fewer >= LEAST_IN_COMMON * more


def _near(one: frozenset[int], other: frozenset[int]) -> bool:
    common = len(one & other)
    return common >= LEAST_IN_COMMON * (len(one) + len(other) - common)
