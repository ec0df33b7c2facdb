"""Cutting a long row of units into batches, by number and by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def in_batches(
    units: Iterable[T], weight: Callable[[T], int], *, most: int, heaviest: int
) -> Iterator[list[T]]:
    """Yield the units in order, in batches of at most `most` of them.

    A batch ends as well once it weighs `heaviest` or more; none is empty.
    """
    batch: list[T] = []
    total = 0
    for each in units:
        batch.append(each)
        total += weight(each)
        if len(batch) >= most or total >= heaviest:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
