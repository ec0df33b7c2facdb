"""Cutting a long row of units into batches, by number and by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def in_batches(
    units: Iterable[T], weight: Callable[[T], int], *, most: int, heaviest: int
) -> Iterator[list[T]]:
    """Yield the units in order, in batches, none of which is empty.

    Args:
        units: What is cut.
        weight: The weight of a unit, such as its length in bytes.
        most: Units after which a batch ends.
        heaviest: A batch ends as well once it weighs so much or more.

    Example:
        >>> list(in_batches(["a", "bcd", "e"], len, most=2, heaviest=4))
        [['a', 'bcd'], ['e']]
    """
    batch: list[T] = []
    total = 0
    for unit in units:
        batch.append(unit)
        total += weight(unit)
        if len(batch) >= most or total >= heaviest:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
