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
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from curation.schema.shingles import hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The least share of shingles in common (Jaccard index) of two near-duplicates.
LEAST_IN_COMMON = 0.9
# Records whose shingles are taken apart together.
_TOGETHER = 1_000
# Pairs that are looked at together.
_PAIRS = 2**14
# Bits of a record, each an odd or even number of its shingles.
_PARITIES = 4096
# Records whose shingles are held, those of which as sets of numbers, and those whose
# bits are held, half a kilobyte each.
_CACHED = 10_000
_CACHED_SETS = 1_000
_CACHED_PARITIES = 50_000


class OnDemand(Sequence[bytes]):
    """A sequence whose items are computed at each access.

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
        index = range(self._length)[place]
        if isinstance(index, int):
            return self._item(index)
        return [self._item(one) for one in index]


def cluster_weights(configs: Sequence[str], names: Sequence[str]) -> list[float]:
    """Return each record's weight: one over the records of its config and cluster.

    Example:
        >>> cluster_weights(["A", "A", "B"], ["a", "a", "a"])
        [0.5, 0.5, 1.0]
    """
    records = list(zip(configs, names, strict=True))
    counts = Counter(records)
    return [1 / counts[record] for record in records]


def clusters(digests: Sequence[str], shingles: Sequence[bytes]) -> list[str]:
    """Return the name of the cluster of each record.

    Args:
        digests: The sha256 of each record's canonical form; records may share one.
        shingles: What `curation.schema.shingles.shingles` says of each; a
            few are held at a time.

    Example:
        >>> clusters(["b", "a", "c"], [bytes(8), bytes(8), bytes(7) + b"x"])
        ['a', 'a', 'c']
    """
    held = OnDemand(len(shingles), lru_cache(_CACHED)(lambda place: shingles[place]))
    places, firsts = _numbered(held)
    own = OnDemand(len(firsts), lambda place: held[firsts[place]])
    joined = list(range(len(own)))
    parities = lru_cache(_CACHED_PARITIES)(lambda place: _parities(own[place]))
    hashes = lru_cache(_CACHED_SETS)(lambda place: frozenset(hashes_of(own[place])))
    sizes = np.array([len(packed) // 8 for packed in own], np.int64)

    def near(one: int, other: int) -> bool:
        # Each bit that differs is at least one shingle that only one of them has. Of
        # near-duplicates at most a nineteenth of the shingles of both is such.
        least = (parities(one) ^ parities(other)).bit_count()
        if 19 * least > sizes[one] + sizes[other]:
            return False
        return _near(hashes(one), hashes(other))

    for group in rare_groups(own) if own else ():
        _connect(group, sizes, joined, near)
    names: dict[int, str] = {}
    for digest, place in zip(digests, places, strict=True):
        head = _head(joined, place)
        names[head] = min(names.get(head, digest), digest)
    return [names[_head(joined, place)] for place in places]


def _numbered(shingles: Iterable[bytes]) -> tuple[list[int], list[int]]:
    """Return each record's number among the distinct ones, and where each begins."""
    numbers: dict[bytes, int] = {}
    places: list[int] = []
    firsts: list[int] = []
    for position, packed in enumerate(shingles):
        name = blake2b(packed, digest_size=16).digest()
        places.append(numbers.setdefault(name, len(numbers)))
        if len(numbers) > len(firsts):
            firsts.append(position)
    return places, firsts


def _head(joined: list[int], place: int) -> int:
    """Return the member that stands for the set of a place; shorten the way to it."""
    while joined[place] != place:
        joined[place] = joined[joined[place]]
        place = joined[place]
    return place


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
        joined: Of each record another of its set, or itself.
        near: Whether two records are near-duplicates.
    """
    heads = [_head(joined, place) for place in group.tolist()]
    if len(set(heads)) == 1:
        return
    rows = max(1, _PAIRS // len(group))
    behind = np.arange(len(group))
    own_sizes = sizes[group]
    for start in range(0, len(group), rows):
        own = np.array([_head(joined, head) for head in heads])
        some = slice(start, start + rows)
        # Whatever is connected already stays so, near or not.
        apart = own[some, None] != own
        fewer = np.minimum(own_sizes[some, None], own_sizes)
        like_in_size = fewer >= LEAST_IN_COMMON * own_sizes[some, None]
        like_in_size &= fewer >= LEAST_IN_COMMON * own_sizes
        earlier = behind[some, None] < behind
        ones, partners = np.nonzero(apart & like_in_size & earlier)
        pairs = zip(group[ones + start].tolist(), group[partners].tolist(), strict=True)
        for one, other in pairs:
            head, gone = _head(joined, one), _head(joined, other)
            if head != gone and near(one, other):
                joined[gone] = head


def _parities(packed: bytes) -> int:
    """Return a bit for each remainder of hashes: whether it is there an odd time."""
    remainders = (np.frombuffer(packed, ">u8") % _PARITIES).astype(np.intp)
    odd = np.bincount(remainders, minlength=_PARITIES) & 1
    return int.from_bytes(np.packbits(odd.astype(np.bool_)).tobytes())


def _near(one: frozenset[int], other: frozenset[int]) -> bool:
    common = len(one & other)
    return common >= LEAST_IN_COMMON * (len(one) + len(other) - common)


# Shingles are counted by the last bits of their hashes: 64 MiB of counts. Shingles that
# share a count are ordered less well, and no pair is lost.
_COUNTS = 2**24


def rare_groups(shingles: Sequence[bytes]) -> Iterator[NDArray[np.intp]]:
    """Yield groups that every pair of near-duplicates shares at least one of.

    Near-duplicates are records with at least nine of ten shingles in common. A record
    may be in several groups, and in none.

    Args:
        shingles: What `curation.schema.shingles.shingles` says of each
            record, of at least one; they are gone through twice, a few held at a time.
    """
    counts = np.zeros(_COUNTS, np.uint32)
    for _, hashes, _ in _some(shingles):
        np.add.at(counts, hashes % np.uint64(_COUNTS), 1)
    rare = _rarest(shingles, counts).ordered()
    # Of a group the record with the fewest shingles is the easiest to be near to.
    starts = rare.starts()
    fewest = np.minimum.reduceat(rare.sizes, starts)
    partner = np.repeat(fewest, np.diff(starts, append=len(rare.hashes)))
    close = rare.only(9 * (rare.sizes + partner) <= 19 * rare.remaining)
    starts = close.starts()
    ends = np.append(starts[1:], len(close.hashes))
    for number in np.flatnonzero(ends - starts > 1):
        yield close.records[starts[number] : ends[number]].astype(np.intp)


class _Rare(NamedTuple):
    """Shingles of records; a near-duplicate shares the first common one here."""

    hashes: NDArray[np.uint64]
    #: Whose each is.
    records: NDArray[np.int32]
    #: How many shingles this record has.
    sizes: NDArray[np.int32]
    #: How many of them are no rarer than this one: itself and those behind it.
    remaining: NDArray[np.int32]

    def only(self, some: NDArray[np.bool_] | NDArray[np.intp]) -> _Rare:
        """Return some of them, by a mask or in an order."""
        return _Rare(
            self.hashes[some],
            self.records[some],
            self.sizes[some],
            self.remaining[some],
        )

    def ordered(self) -> _Rare:
        """Return them by shingle, then by record."""
        return self.only(np.argsort(self.hashes, kind="stable"))

    def starts(self) -> NDArray[np.intp]:
        """Return where another shingle begins, in what `ordered` gave."""
        differs = np.ones(len(self.hashes), np.bool_)
        differs[1:] = self.hashes[1:] != self.hashes[:-1]
        return np.flatnonzero(differs)


def _some(
    shingles: Sequence[bytes],
) -> Iterator[tuple[int, NDArray[np.uint64], NDArray[np.int32]]]:
    """Yield the first record's place, all hashes and each one's number, by parts."""
    for start in range(0, len(shingles), _TOGETHER):
        some = shingles[start : start + _TOGETHER]
        sizes = np.array([len(packed) // 8 for packed in some], np.int32)
        yield start, np.frombuffer(b"".join(some), np.uint64), sizes


def _rarest(shingles: Sequence[bytes], counts: NDArray[np.uint32]) -> _Rare:
    """Return of every record the shingles of which a near-duplicate shares one.

    Near-duplicates with `a` and `b` shingles share at least 9/19 (a + b), and `b` is at
    least 9/10 a: so what is shared first has 9/10 a behind it, itself counted.
    """
    parts = []
    for start, hashes, sizes in _some(shingles):
        records = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        order = np.lexsort((hashes, counts[hashes % np.uint64(_COUNTS)], records))
        remaining = np.repeat(np.cumsum(sizes, dtype=np.int32), sizes)
        remaining -= np.arange(len(hashes), dtype=np.int32)
        part = _Rare(hashes[order], start + records, sizes[records], remaining)
        parts.append(part.only(10 * remaining >= 9 * part.sizes))
    return _Rare(*map(np.concatenate, zip(*parts, strict=True)))
