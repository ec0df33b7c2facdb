"""Clusters of near-duplicate records.

Two records are near-duplicates if nine of ten of their shingles are the same
(`curation.schema.shingles`). MinHash proposes the pairs (Broder, "On the resemblance
and containment of documents", 1997), the shingles decide. A cluster is what such pairs
connect; its name is the smallest digest of its records.

In a large group of similar records MinHash proposes too many pairs, so the rarest
shingles do (`rare_groups`): of two sets that have nine of ten items in common, the few
rarest items of each cannot all be missing from the other (prefix filtering: Chaudhuri,
Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning", 2006;
Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007). No pair is
lost, whatever the order of shingles; that by rarity makes the groups small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import rensa

from curation.schema.shingles import hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The least share of shingles in common (Jaccard index) of two near-duplicates.
LEAST_IN_COMMON = 0.9
# A pair at the threshold shares one band of 5 of the 160 hashes, and so is proposed,
# but once in some 10^12 times, (1 - 0.9^5)^32; it shares 19 bands in the mean, and
# fewer than four once in 10^8 times. Of pairs with half of their shingles in common
# one in twenty shares four.
_HASHES = 160
#: Into how many bands the hashes of a record are cut.
BANDS = 32
_LEAST_BANDS = 4
_SEED = 18
# An odd number, to make one number of a band's hashes.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# Records whose shingles are taken apart together.
_TOGETHER = 1_000


@dataclass(frozen=True, slots=True)
class Alike:
    """Which records have the hashes of one band in common."""

    #: The records, those of a group side by side, and in order within it.
    order: NDArray[np.intp]
    #: Where each group starts in it.
    starts: NDArray[np.intp]
    #: How many records each group has.
    sizes: NDArray[np.intp]

    def couples(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first and the second record of every group of two."""
        firsts = self.starts[self.sizes == 2]  # noqa: PLR2004 (a couple is two)
        return self.order[firsts], self.order[firsts + 1]

    def larger_groups(self) -> Iterator[NDArray[np.intp]]:
        """Yield the records, in order, of every group of three or more."""
        (several,) = np.nonzero(self.sizes > 2)  # noqa: PLR2004 (more than a couple)
        for number in several:
            start = self.starts[number]
            yield self.order[start : start + self.sizes[number]]


@dataclass(frozen=True, slots=True)
class Signatures:
    """What MinHash says of every record: in memory are 132 bytes of each."""

    #: A number for the five hashes of a band, by record and band.
    bands: NDArray[np.uint32]
    #: How long the shingles of each record are.
    lengths: NDArray[np.uint32]

    def alike(self, band: int) -> Alike:
        """Return which records have the hashes of a band in common."""
        keys = self.bands[:, band]
        order = np.argsort(keys, kind="stable")
        (ends,) = np.nonzero(np.diff(keys[order]))
        starts = np.concatenate(([0], ends + 1))
        return Alike(order, starts, np.diff(starts, append=len(order)))

    def proposed(
        self, band: int, ones: NDArray[np.intp], partners: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return which pairs may be near, and share no band before this one."""
        equal = self.bands[ones] == self.bands[partners]
        several = equal.sum(axis=1) >= _LEAST_BANDS
        is_first: NDArray[np.bool_] = several & (equal.argmax(axis=1) == band)
        return is_first & self.like_in_size(ones, partners)

    def like_in_size(
        self, ones: NDArray[np.intp], partners: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return in which pairs one has at least nine tenths of the other's number."""
        lengths, of_others = self.lengths[ones], self.lengths[partners]
        fewer, more = np.minimum(lengths, of_others), np.maximum(lengths, of_others)
        similar: NDArray[np.bool_] = fewer >= LEAST_IN_COMMON * more
        return similar


def signatures_of(shingles: Iterator[bytes]) -> Signatures:
    """Return what MinHash says of every record.

    Args:
        shingles: What `curation.schema.shingles.shingles` says of each.
    """
    bands = [np.empty((0, BANDS), np.uint32)]
    lengths = [np.empty(0, np.uint32)]
    while some := list(islice(shingles, _TOGETHER)):
        lengths.append(np.array([len(packed) for packed in some], np.uint32))
        sketches = rensa.RMinHash.from_token_sets(
            [
                [packed[at : at + 8] for at in range(0, len(packed), 8)]
                for packed in some
            ],
            num_perm=_HASHES,
            seed=_SEED,
        )
        hashes = np.array([signature.digest() for signature in sketches], np.uint64)
        keys = np.zeros((len(some), BANDS), np.uint64)
        for column in np.moveaxis(hashes.reshape(len(some), BANDS, -1), 2, 0):
            keys = (keys ^ column) * _FACTOR
            keys ^= keys >> np.uint64(32)
        bands.append((keys >> np.uint64(32)).astype(np.uint32))
    return Signatures(np.concatenate(bands), np.concatenate(lengths))


# The largest group in which every pair is looked at.
_LARGE = 512
# Pairs that are looked at together.
_PAIRS = 2**14
# Bits of a record, each an odd or even number of its shingles.
_PARITIES = 4096
# Records whose shingles are held as sets of numbers, and those whose bits are held,
# half a kilobyte each.
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
    firsts: list[int] = []
    places: list[int] = []
    signatures = signatures_of(_distinct(shingles, firsts, places))
    own = OnDemand(len(firsts), lambda place: shingles[firsts[place]])
    joined = list(range(len(own)))
    parities = lru_cache(_CACHED_PARITIES)(lambda place: _parities(own[place]))
    hashes = lru_cache(_CACHED_SETS)(lambda place: frozenset(hashes_of(own[place])))
    sizes = (signatures.lengths // 8).tolist()

    def near(one: int, other: int) -> bool:
        # Each bit that differs is at least one shingle that only one of them has. Of
        # near-duplicates at most a nineteenth of the shingles of both is such.
        least = (parities(one) ^ parities(other)).bit_count()
        if 19 * least > sizes[one] + sizes[other]:
            return False
        return _near(hashes(one), hashes(other))

    in_large = np.zeros(len(own), np.bool_)
    for band in range(BANDS):
        alike = signatures.alike(band)
        proposed = partial(signatures.proposed, band)
        # Most groups are of two: their pairs are asked about together.
        _join(*alike.couples(), proposed, joined, near)
        for group in alike.larger_groups():
            if len(group) > _LARGE:
                in_large[group] = True
            else:
                _connect(group, proposed, joined, near)
    members = np.flatnonzero(in_large)
    if len(members):
        packed = OnDemand(len(members), lambda place: own[int(members[place])])
        for group in rare_groups(packed):
            _connect(members[group], signatures.like_in_size, joined, near)
    names: dict[int, str] = {}
    for digest, place in zip(digests, places, strict=True):
        head = _head(joined, place)
        names[head] = min(names.get(head, digest), digest)
    return [names[_head(joined, place)] for place in places]


def _distinct(
    shingles: Iterable[bytes], firsts: list[int], places: list[int]
) -> Iterator[bytes]:
    """Yield the shingles that differ from all before.

    Args:
        shingles: Those of every record.
        firsts: Receives the position of each that is yielded.
        places: Receives for every record the place of its shingles among these.
    """
    places_by_name: dict[bytes, int] = {}
    for position, packed in enumerate(shingles):
        own_name = blake2b(packed, digest_size=16).digest()
        place = places_by_name.setdefault(own_name, len(places_by_name))
        places.append(place)
        if place == len(firsts):
            firsts.append(position)
            yield packed


def _head(joined: list[int], place: int) -> int:
    """Return the member that stands for the set of a place; shorten the way to it."""
    while joined[place] != place:
        joined[place] = joined[joined[place]]
        place = joined[place]
    return place


def _connect(
    group: NDArray[np.intp],
    may_be_near: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.bool_]],
    joined: list[int],
    near: Callable[[int, int], bool],
) -> None:
    """Join the near-duplicates of a group.

    Args:
        group: Records, in order.
        may_be_near: Which pairs are to be compared.
        joined: Of each record another of its set, or itself.
        near: Whether two records are near-duplicates.
    """
    heads = [_head(joined, place) for place in group.tolist()]
    if len(set(heads)) == 1:
        return
    rows = max(1, _PAIRS // len(group))
    behind = np.arange(len(group))
    for start in range(0, len(group), rows):
        own = np.array([_head(joined, head) for head in heads])
        some = slice(start, start + rows)
        # Whatever is connected already stays so, near or not.
        apart = own[some, None] != own
        ones, partners = np.nonzero(apart & (behind[some, None] < behind))
        _join(group[ones + start], group[partners], may_be_near, joined, near)


def _join(
    ones: NDArray[np.intp],
    partners: NDArray[np.intp],
    may_be_near: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.bool_]],
    joined: list[int],
    near: Callable[[int, int], bool],
) -> None:
    for start in range(0, len(ones), _PAIRS):
        some = slice(start, start + _PAIRS)
        compared = may_be_near(ones[some], partners[some])
        pairs = zip(
            ones[some][compared].tolist(),
            partners[some][compared].tolist(),
            strict=True,
        )
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
