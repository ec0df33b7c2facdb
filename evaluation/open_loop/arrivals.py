"""When requests arrive: drawn in advance, and never moved by an answer."""

from __future__ import annotations

from math import isinf

import numpy as np


def draw_arrivals(
    count: int, rate: float, *, burstiness: float = 1.0, seed: int = 0
) -> list[float]:
    """Return the moments of arrivals, in seconds from the beginning, in order.

    The gaps between them are drawn from a gamma distribution whose mean is 1 / rate,
    the first one included.

    Args:
        count: How many there are.
        rate: Arrivals a second; infinite: all at once.
        burstiness: Shape of the gamma distribution. 1 is a Poisson process; below,
            arrivals come in bursts; above, they are more even.
        seed: The same one gives the same moments.

    Example:
        >>> len(draw_arrivals(3, 2.0))
        3
        >>> draw_arrivals(2, float("inf"))
        [0.0, 0.0]
    """
    if isinf(rate):
        return [0.0] * count
    random = np.random.default_rng(seed)
    gaps = random.gamma(burstiness, 1 / (rate * burstiness), count)
    return [float(moment) for moment in np.cumsum(gaps)]
