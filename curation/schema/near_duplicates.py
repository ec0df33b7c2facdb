"""Clusters of near-duplicate records.

Two records are near-duplicates if nine of ten of their shingles are the same
(`curation.schema.shingles`). A cluster is what such pairs connect; its name is the
smallest digest of its records.

Only records that share a rare shingle are compared (`rare_groups`): of two sets that
have nine of ten items in common, the few rarest items of each cannot all be missing
from the other (prefix filtering: Chaudhuri, Ganti and Kaushik, "A primitive operator
for similarity joins in data cleaning", 2006; Bayardo, Ma and Srikant, "Scaling up all
pairs similarity search", 2007). No pair is lost, whatever the order of shingles; that
by rarity makes the groups small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from curation.schema.shingles import unpack_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The least share of shingles in common (Jaccard index) of two near-duplicates.
MIN_IN_COMMON = 0.9
# Records whose shingles are taken apart together.
_TOGETHER = 1_000
# Pairs looked at together.
_PAIRS = 2**14
# Bits of a record, each an odd or even number of its shingles.
_PARITIES = 4096
# Records whose shingles are held, those of which as sets of numbers, and those whose
# bits are held, half a kilobyte each.
_CACHED = 10_000
_CACHED_SETS = 1_000
_CACHED_PARITIES = 50_000


def cluster_weights(configs: Sequence[str], names: Sequence[str]) -> list[float]:
    """Return each record's weight: one over the records of its config and cluster.

    Example:
        >>> cluster_weights(["A", "A", "B"], ["a", "a", "a"])
        [0.5, 0.5, 1.0]
    """
    records = list(zip(configs, names, strict=True))
    counts = Counter(records)
    return [1 / counts[record] for record in records]


def clusters(digests: Sequence[str], shingles: Callable[[int], bytes]) -> list[str]:
    """Return the name of the cluster of each record.

    Args:
        digests: The sha256 of each record's canonical form; records may share one.
        shingles: Returns a record's `curation.schema.shingles.shingles`, by
            its place; a few are held at a time.

    Example:
        >>> clusters(["b", "a", "c"], [bytes(8), bytes(8), bytes(7) + b"x"].__getitem__)
        ['a', 'a', 'c']
    """
    cached = lru_cache(_CACHED)(shingles)
    # Each record's number among the distinct ones, and where each of those begins.
    numbers: dict[bytes, int] = {}
    places: list[int] = []
    firsts: list[int] = []
    for position in range(len(digests)):
        name = blake2b(cached(position), digest_size=16).digest()
        places.append(numbers.setdefault(name, len(numbers)))
        if len(numbers) > len(firsts):
            firsts.append(position)

    def distinct(index: int) -> bytes:
        return cached(firsts[index])

    sizes = np.array(
        [len(distinct(index)) // 8 for index in range(len(firsts))], np.int64
    )

    @lru_cache(_CACHED_PARITIES)
    def parities(index: int) -> int:
        """Return a bit for each remainder of hashes: whether it is odd times there."""
        numbers = np.frombuffer(distinct(index), ">u8")
        remainders = (numbers % _PARITIES).astype(np.intp)
        odd = np.bincount(remainders, minlength=_PARITIES) & 1
        return int.from_bytes(np.packbits(odd.astype(np.bool_)).tobytes())

    hashes = lru_cache(_CACHED_SETS)(
        lambda index: frozenset(unpack_hashes(distinct(index)))
    )

    def near(record: int, partner: int) -> bool:
        # Each bit that differs is at least one shingle that only one of them has. Of
        # near-duplicates at most a nineteenth of the shingles of both is such.
        total = int(sizes[record] + sizes[partner])
        if 19 * (parities(record) ^ parities(partner)).bit_count() > total:
            return False
        common = len(hashes(record) & hashes(partner))
        return common >= MIN_IN_COMMON * (total - common)

    joined = list(range(len(firsts)))
    for group in rare_groups(len(firsts), distinct) if firsts else ():
        _connect(group, sizes, joined, near)
    names: dict[int, str] = {}
    for digest, index in zip(digests, places, strict=True):
        head = _head(joined, index)
        names[head] = min(names.get(head, digest), digest)
    return [names[_head(joined, index)] for index in places]


def _head(joined: list[int], index: int) -> int:
    """Return the representative of the set of a record; shorten the path to it."""
    while joined[index] != index:
        joined[index] = joined[joined[index]]
        index = joined[index]
    return index


def _connect(
    group: NDArray[np.intp],
    sizes: NDArray[np.int64],
    joined: list[int],
    near: Callable[[int, int], bool],
) -> None:
    """Join the near-duplicates of a group.

    Args:
        group: Records, in order.
        sizes: How many shingles each record has.
        joined: For each record another of its set, or itself.
        near: Whether two records are near-duplicates.
    """
    heads = [_head(joined, index) for index in group.tolist()]
    if len(set(heads)) == 1:
        return
    rows = max(1, _PAIRS // len(group))
    behind = np.arange(len(group))
    own_sizes = sizes[group]
    for start in range(0, len(group), rows):
        members = np.array([_head(joined, head) for head in heads])
        some = slice(start, start + rows)
        # Whatever is connected already stays so, near or not.
        apart = members[some, None] != members
        fewer = np.minimum(own_sizes[some, None], own_sizes)
        like_in_size = fewer >= MIN_IN_COMMON * own_sizes[some, None]
        like_in_size &= fewer >= MIN_IN_COMMON * own_sizes
        earlier = behind[some, None] < behind
        ones, partners = np.nonzero(apart & like_in_size & earlier)
        pairs = zip(group[ones + start].tolist(), group[partners].tolist(), strict=True)
        for record, partner in pairs:
            head, gone = _head(joined, record), _head(joined, partner)
            if head != gone and near(record, partner):
                joined[gone] = head


# Shingles are counted by the last bits of their hashes: 64 MiB of counts. Shingles that
# share a count are ordered less well, and no pair is lost.
_COUNTS = 2**24


def rare_groups(
    count: int, shingles: Callable[[int], bytes]
) -> Iterator[NDArray[np.intp]]:
    """Yield groups that every pair of near-duplicates shares at least one of.

    Near-duplicates are records with at least nine of ten shingles in common. A record
    may be in several groups, and in none.

    Near-duplicates with `a` and `b` shingles share at least 9/19 (a + b), and `b` is at
    least 9/10 a: so the first shared shingle of `a`, the rarest first, has
    9/10 a after it, itself counted.

    Args:
        count: The number of records, at least one.
        shingles: Returns a record's `curation.schema.shingles.shingles`, by
            its place; they are gone through twice, a few held at a time.
    """
    counts = np.zeros(_COUNTS, np.uint32)
    for _, hashes, _ in _some(count, shingles):
        np.add.at(counts, hashes % np.uint64(_COUNTS), 1)
    parts = []
    for start, hashes, own_sizes in _some(count, shingles):
        owners = np.repeat(np.arange(len(own_sizes), dtype=np.int32), own_sizes)
        order = np.lexsort((hashes, counts[hashes % np.uint64(_COUNTS)], owners))
        # Shingles of a record at least as frequent: itself and later ones.
        behind = np.repeat(np.cumsum(own_sizes, dtype=np.int32), own_sizes)
        behind -= np.arange(len(hashes), dtype=np.int32)
        rare = 10 * behind >= 9 * own_sizes[owners]
        columns = hashes[order], start + owners, own_sizes[owners], behind
        parts.append([column[rare] for column in columns])
    shared, records, sizes, remaining = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(shared, kind="stable")
    shared, records, sizes = shared[order], records[order], sizes[order]
    # A group's record with the fewest shingles is the easiest to be near to.
    starts = _starts(shared)
    fewest = np.minimum.reduceat(sizes, starts)
    partner = np.repeat(fewest, np.diff(starts, append=len(shared)))
    close = 9 * (sizes + partner) <= 19 * remaining[order]
    shared, records = shared[close], records[close]
    starts = _starts(shared)
    ends = np.append(starts[1:], len(shared))
    for number in np.flatnonzero(ends - starts > 1):
        yield records[starts[number] : ends[number]].astype(np.intp)


def _starts(hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where another hash begins among sorted ones."""
    differs = np.ones(len(hashes), np.bool_)
    differs[1:] = hashes[1:] != hashes[:-1]
    return np.flatnonzero(differs)


def _some(
    count: int, shingles: Callable[[int], bytes]
) -> Iterator[tuple[int, NDArray[np.uint64], NDArray[np.int32]]]:
    """Yield the first record's place, all hashes and each one's number, by parts."""
    for start in range(0, count, _TOGETHER):
        some = [
            shingles(index) for index in range(start, min(start + _TOGETHER, count))
        ]
        sizes = np.array([len(packed) // 8 for packed in some], np.int32)
        yield start, np.frombuffer(b"".join(some), np.uint64), sizes
