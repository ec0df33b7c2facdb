"""MinHash signatures: which records may be near-duplicates, before any are compared.

A. Broder, On the resemblance and containment of documents (1997). The hashes of a
record are cut into bands; records that share a band are proposed as near-duplicates
(`curation.schema.similarity.near_duplicates` compares them).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import rensa

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self, band: int, ones: NDArray[np.intp], others: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return which pairs may be near, and share no band before this one."""
        equal = self.bands[ones] == self.bands[others]
        several = equal.sum(axis=1) >= _LEAST_BANDS
        found: NDArray[np.bool_] = several & (equal.argmax(axis=1) == band)
        return found & self.like_in_size(ones, others)

    def like_in_size(
        self, ones: NDArray[np.intp], others: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return in which pairs one has at least nine tenths of the other's number."""
        lengths, of_others = self.lengths[ones], self.lengths[others]
        fewer, more = np.minimum(lengths, of_others), np.maximum(lengths, of_others)
        found: NDArray[np.bool_] = fewer >= LEAST_IN_COMMON * more
        return found


def signatures_of(shingles: Iterator[bytes]) -> Signatures:
    """Return what MinHash says of every record.

    Args:
        shingles: What `curation.schema.similarity.shingles.shingles` says of each.
    """
    bands = [np.empty((0, BANDS), np.uint32)]
    lengths = [np.empty(0, np.uint32)]
    while some := list(islice(shingles, _TOGETHER)):
        lengths.append(np.array([len(packed) for packed in some], np.uint32))
        found = rensa.RMinHash.from_token_sets(
            [
                [packed[at : at + 8] for at in range(0, len(packed), 8)]
                for packed in some
            ],
            num_perm=_HASHES,
            seed=_SEED,
        )
        hashes = np.array([signature.digest() for signature in found], np.uint64)
        keys = np.zeros((len(some), BANDS), np.uint64)
        for column in np.moveaxis(hashes.reshape(len(some), BANDS, -1), 2, 0):
            keys = (keys ^ column) * _FACTOR
            keys ^= keys >> np.uint64(32)
        bands.append((keys >> np.uint64(32)).astype(np.uint32))
    return Signatures(np.concatenate(bands), np.concatenate(lengths))
