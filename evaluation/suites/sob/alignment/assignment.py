"""The best one-to-one assignment of rows to columns."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def best_assignment(gains: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return which column each row gets, so that the sum of gains is the largest.

    Of rows and columns the fewer are all assigned. H. W. Kuhn, 1955, "The Hungarian
    method for the assignment problem", by shortest augmenting paths; the time grows
    with the cube of the size.

    Args:
        gains: What each row gains by each column; all rows of one length.

    Example:
        >>> best_assignment([[1, 3], [2, 9]])
        {0: 0, 1: 1}
    """
    if not gains or not gains[0]:
        return {}
    if len(gains) > len(gains[0]):
        turned = [list(column) for column in zip(*gains, strict=True)]
        found = best_assignment(turned)
        return {row: column for column, row in sorted(found.items(), key=_second)}
    row_of = [0] * (len(gains[0]) + 1)
    row_price = [0.0] * (len(gains) + 1)
    column_price = [0.0] * (len(gains[0]) + 1)
    for row in range(1, len(gains) + 1):
        _augment(row, gains, row_of, row_price, column_price)
    found = {row - 1: column - 1 for column, row in enumerate(row_of) if row and column}
    return dict(sorted(found.items()))


def _second(pair: tuple[int, int]) -> int:
    return pair[1]


def _augment(
    row: int,
    gains: Sequence[Sequence[float]],
    row_of: list[int],
    row_price: list[float],
    column_price: list[float],
) -> None:
    """Assign one more row; rows and columns count from 1, column 0 is where it waits.

    Prices keep every cost minus both prices at 0 or more, and at 0 where a row is
    assigned: then an assignment is the cheapest.
    """
    columns = len(column_price)
    row_of[0] = row
    least = [inf] * columns
    before = [0] * columns
    visited = [False] * columns
    column = 0
    while row_of[column]:
        visited[column] = True
        current = row_of[column]
        step, nearest = inf, 0
        for other in range(1, columns):
            if visited[other]:
                continue
            cost = -gains[current - 1][other - 1]
            reduced = cost - row_price[current] - column_price[other]
            if reduced < least[other]:
                least[other], before[other] = reduced, column
            if least[other] < step:
                step, nearest = least[other], other
        for other in range(columns):
            if visited[other]:
                row_price[row_of[other]] += step
                column_price[other] -= step
            else:
                least[other] -= step
        column = nearest
    while column:
        row_of[column] = row_of[before[column]]
        column = before[column]
