"""Noise of times: how far repetitions of one engine lie apart."""

from __future__ import annotations

from itertools import chain
from math import exp, hypot, log, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from evaluation.reporting.statistics import Interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


def measure_reach(sides: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return how far repetitions move the logarithm of a ratio of two engines.

    In 95 of 100 comparisons, by what lies between the processes of each engine; 0 if
    neither was repeated.

    Args:
        sides: For each engine and schema, the times of its repetitions.
    """
    offsets = [repeated for cases in sides if (repeated := repetition_offsets(cases))]
    freedom = sum(len(values) - 1 for values in offsets)
    if not freedom:
        return 0.0
    squares = sum(offset * offset for offset in chain(*offsets))
    processes = sum(1 / max(map(len, cases)) for cases in sides)
    return t_quantile(freedom) * sqrt(squares / freedom * processes)


def repetition_offsets(cases: Sequence[Sequence[float]]) -> list[float]:
    """Return the logarithm of each repetition's time over the mean of all.

    Of the cases with the usual number of repetitions; empty without any.

    Args:
        cases: For each schema the times of its repetitions, in their order.
    """
    count = max(map(len, cases), default=0)
    if count < 2:  # noqa: PLR2004 (nothing to compare with)
        return []
    means = np.log([case for case in cases if len(case) == count]).mean(axis=0)
    return list(means - means.mean())


def widened(value: float, interval: Interval, reach: float) -> Interval:
    """Return the interval of a ratio with what else may have moved its logarithm.

    Independent errors add up as squares do.
    """
    low = hypot(log(value) - log(interval.low), reach)
    high = hypot(log(interval.high) - log(value), reach)
    return Interval(value * exp(-low), value * exp(high))


#: Name of a time in tables to its column.
TIMES: Final[Mapping[str, str]] = {
    "compile": "compile_ns",
    "first mask": "first_mask_ns",
    "mask": "between_ns",
}


def times_by_case(
    attempts: pl.DataFrame, column: str
) -> dict[tuple[str, str], list[float]]:
    """Return the time of each repetition of a case, by config and id.

    Without the cases of which a repetition has no time.
    """
    lines = attempts.group_by("config", "id", maintain_order=True).agg(column)
    return {
        (config, id_): times for config, id_, times in lines.iter_rows() if all(times)
    }
