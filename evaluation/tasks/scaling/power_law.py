"""How fast a cost grows with a size: the exponent of a power law, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Final

from evaluation.reporting import student
from evaluation.reporting.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Sizes below this share of the largest are left out: there the fixed cost of a call
#: hides what grows.
TAIL: Final = 64
#: Different sizes without which no slope is given.
_FEWEST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponent:
    """The slope of log cost over log size."""

    value: float
    #: 95 % interval by Student's t; None where the points leave no freedom.
    interval: Interval | None
    #: Sizes between which it holds.
    smallest: float
    largest: float


def exponent(points: Sequence[tuple[float, float]]) -> Exponent | None:
    """Fit cost = c * size ** k to points (size, cost) by least squares of logarithms.

    Only the largest sizes count, down to 1/64 of the largest. None where fewer than
    three sizes are left, or something is not positive.
    """
    largest = max((size for size, _ in points), default=0.0)
    tail = [point for point in points if point[0] * TAIL >= largest]
    if len({size for size, _ in tail}) < _FEWEST or min(map(min, tail)) <= 0:
        return None
    across = [log(size) for size, _ in tail]
    up = [log(cost) for _, cost in tail]
    count = len(tail)
    middle, height = sum(across) / count, sum(up) / count
    spread = sum((x - middle) ** 2 for x in across)
    paired = zip(across, up, strict=True)
    slope = sum((x - middle) * (y - height) for x, y in paired) / spread
    return Exponent(
        value=slope,
        interval=_interval(slope, across, up, spread),
        smallest=min(size for size, _ in tail),
        largest=largest,
    )


def _interval(
    slope: float, across: Sequence[float], up: Sequence[float], spread: float
) -> Interval | None:
    freedom = len(across) - 2
    if freedom < 1:
        return None
    middle, height = sum(across) / len(across), sum(up) / len(up)
    paired = zip(across, up, strict=True)
    left = sum((y - height - slope * (x - middle)) ** 2 for x, y in paired)
    wide = student.quantile(freedom) * sqrt(left / freedom / spread)
    return Interval(low=slope - wide, high=slope + wide)
