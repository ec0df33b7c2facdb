"""Near-duplicate clusters: which records of a build say nearly the same.

Two records are near-duplicates where nine of ten of their shingles are the same
(`curation.schema.similarity.shingles`): MinHash proposes the pairs, the shingles
themselves decide. Of a large group of records that resemble each other it proposes too
many; there the rarest shingles do (`curation.schema.similarity.rare_shingles`). A
cluster is what such pairs connect, and has the name of its smallest record digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, overload

import numpy as np

from curation.schema.similarity import rare_shingles
from curation.schema.similarity.shingles import hashes_of
from curation.schema.similarity.signatures import BANDS, LEAST_IN_COMMON, signatures_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

# The largest group in which every pair is looked at.
_LARGE = 512
# Pairs that are looked at together.
_PAIRS = 2**14
# Bits of a record, each an odd or even number of its shingles.
_PARITIES = 4096
# Records whose shingles are held as sets of numbers, and those whose bits are held,
# half a kilobyte each.
_HELD = 1_000
_HELD_PARITIES = 50_000


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
    places: list[int] = []
    signatures = signatures_of(_distinct(shingles, firsts, places))
    own = OnDemand(len(firsts), lambda place: shingles[firsts[place]])
    joined = list(range(len(own)))
    parities = lru_cache(_HELD_PARITIES)(lambda place: _parities(own[place]))
    hashes = lru_cache(_HELD)(lambda place: frozenset(hashes_of(own[place])))
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
        for group in rare_shingles.groups(packed):
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
        firsts: Told the position of each that is yielded.
        places: Told of every record the place of its shingles among these.
    """
    known: dict[bytes, int] = {}
    for position, packed in enumerate(shingles):
        own_name = blake2b(packed, digest_size=16).digest()
        place = known.setdefault(own_name, len(known))
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
    """Join those of a group that are near, unless they are connected already.

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
        ones, others = np.nonzero(apart & (behind[some, None] < behind))
        _join(group[ones + start], group[others], may_be_near, joined, near)


def _join(
    ones: NDArray[np.intp],
    others: NDArray[np.intp],
    may_be_near: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.bool_]],
    joined: list[int],
    near: Callable[[int, int], bool],
) -> None:
    """Join those of each pair that are near, unless they are connected already.

    However many pairs there are, what is held of them at once is bounded.
    """
    for start in range(0, len(ones), _PAIRS):
        some = slice(start, start + _PAIRS)
        compared = may_be_near(ones[some], others[some])
        pairs = zip(
            ones[some][compared].tolist(), others[some][compared].tolist(), strict=True
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
