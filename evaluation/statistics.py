"""The statistics of a report: intervals, paired tests, quantiles under time-outs.

Everything here is a pure function of figures; nothing that is missing is ever taken
for zero: where there is no answer, the answer is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

#: The two-sided 95 % quantile of the standard normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def wilson(count: int, of: int, z: float = _Z) -> Interval | None:
    """Return Wilson's score interval of a share (95 % by default), None of nothing.

    E. B. Wilson, 1927, "Probable inference, the law of succession, and statistical
    inference", without continuity correction.

    Raises:
        ValueError: `count` is negative or more than `of`.
    """
    if not 0 <= count <= of:
        raise ValueError((count, of))
    if of == 0:
        return None
    share = count / of
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    # At the ends the bound is exact; rounding must not push it past the share.
    return Interval(
        low=0.0 if count == 0 else min(share, (middle - spread) / scale),
        high=1.0 if count == of else max(share, (middle + spread) / scale),
    )
