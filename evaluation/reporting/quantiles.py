"""Quantiles of measured times, some of them cut off by a deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile, or its lower bound if time-outs cut off the values above."""

    value: float
    at_least: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles:
    """Measured values in order, and lower bounds of those cut off."""

    #: In order; both kinds together.
    values: np.ndarray
    #: The smallest lower bound; None if every value was measured.
    first_bound: float | None = None

    @classmethod
    def of(
        cls, values: Sequence[float] | np.ndarray, censored: Sequence[float] = ()
    ) -> Quantiles:
        """Sort values; a censored one is a lower bound."""
        combined = np.concatenate([np.asarray(values), np.asarray(censored)])
        bound = min(censored, default=None)
        return cls(np.sort(combined), bound)

    def at(self, percent: float) -> Quantile | None:
        """Return the quantile; None of no values.

        Interpolated (Hyndman and Fan, 1996, definition 7). It is a lower bound if a
        value cut off could be below it.
        """
        if not len(self.values):
            return None
        position = (len(self.values) - 1) * percent / 100
        low, high = (float(self.values[end(position)]) for end in (floor, ceil))
        value = low + (high - low) * (position - floor(position))
        bound = self.first_bound
        return Quantile(value, at_least=bound is not None and bound <= high)
