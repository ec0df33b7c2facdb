"""Groups of records that share one of their rarest shingles.

Of two sets that have nine of ten items in common, the few rarest items of each cannot
all be missing from the other: so records whose rarest shingles all differ are no
near-duplicates, and need not be compared (prefix filtering: Chaudhuri, Ganti and
Kaushik, "A primitive operator for similarity joins in data cleaning", 2006; Bayardo, Ma
and Srikant, "Scaling up all pairs similarity search", 2007). No pair is lost, whatever
the order of shingles; that by rarity makes the groups small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

# Shingles are counted by the last bits of their hashes: 64 MiB of counts. Shingles that
# share a count are ordered less well, and no pair is lost.
_COUNTS = 2**24
# Records whose shingles are taken apart together.
_TOGETHER = 1_000


def groups(shingles: Sequence[bytes]) -> Iterator[NDArray[np.intp]]:
    """Yield groups that every pair of near-duplicates shares at least one of.

    Near-duplicates are records with at least nine of ten shingles in common. A record
    may be in several groups, and in none.

    Args:
        shingles: What `curation.schema.similarity.shingles.shingles` says of each
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
    kept = rare.only(9 * (rare.sizes + partner) <= 19 * rare.left)
    starts = kept.starts()
    ends = np.append(starts[1:], len(kept.hashes))
    for number in np.flatnonzero(ends - starts > 1):
        yield kept.records[starts[number] : ends[number]].astype(np.intp)


@dataclass(frozen=True, slots=True)
class _Rare:
    """Shingles of records; a near-duplicate shares the first common one here."""

    hashes: NDArray[np.uint64]
    #: Whose each is.
    records: NDArray[np.int32]
    #: How many shingles this record has.
    sizes: NDArray[np.int32]
    #: How many of them are no rarer than this one: itself and those behind it.
    left: NDArray[np.int32]

    def only(self, some: NDArray[np.bool_] | NDArray[np.intp]) -> _Rare:
        """Return some of them, by a mask or in an order."""
        return _Rare(
            self.hashes[some], self.records[some], self.sizes[some], self.left[some]
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
    found = []
    for start, hashes, sizes in _some(shingles):
        records = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        order = np.lexsort((hashes, counts[hashes % np.uint64(_COUNTS)], records))
        left = np.repeat(np.cumsum(sizes, dtype=np.int32), sizes)
        left -= np.arange(len(hashes), dtype=np.int32)
        part = _Rare(hashes[order], start + records, sizes[records], left)
        found.append(part.only(10 * left >= 9 * part.sizes))
    return _Rare(
        np.concatenate([part.hashes for part in found]),
        np.concatenate([part.records for part in found]),
        np.concatenate([part.sizes for part in found]),
        np.concatenate([part.left for part in found]),
    )
