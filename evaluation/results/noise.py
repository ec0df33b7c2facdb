"""Noise of times: how far repetitions of one engine lie apart."""

from __future__ import annotations

from math import exp, fsum, hypot, log, sqrt
from typing import TYPE_CHECKING, Final

from evaluation.reporting.statistics import Interval, t_quantile
from evaluation.reporting.tables import Cell, Ratio, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluation.results.measurements import CaseMeasurement, RepetitionTimes


def reach_of(sides: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return how far repetitions move the logarithm of a ratio of two engines.

    In 95 of 100 comparisons, by what lies between the processes of each engine; 0 if
    neither was repeated.

    Args:
        sides: Of each engine, for each schema, the times of its repetitions.
    """
    offsets = [found for cases in sides if (found := repetition_offsets(cases))]
    freedom = sum(len(own) - 1 for own in offsets)
    if not freedom:
        return 0.0
    squares = fsum(offset * offset for own in offsets for offset in own)
    processes = fsum(1 / max(map(len, cases)) for cases in sides)
    return t_quantile(freedom) * sqrt(squares / freedom * processes)


def repetition_offsets(cases: Sequence[Sequence[float]]) -> list[float]:
    """Return the logarithm of each repetition's time over the mean of all.

    Of the cases with the usual number of repetitions; empty without any.

    Args:
        cases: For each schema the times of its repetitions, in their order.
    """
    count = max(map(len, cases), default=0)
    full = [[log(time) for time in case] for case in cases if len(case) == count]
    if count < 2:  # noqa: PLR2004 (nothing to compare with)
        return []
    means = [fsum(times[place] for times in full) / len(full) for place in range(count)]
    middle = fsum(means) / count
    return [mean - middle for mean in means]


def widened(value: float, interval: Interval, reach: float) -> Interval:
    """Return the interval of a ratio with what else may have moved its logarithm.

    Independent errors add up as squares do.
    """
    low = hypot(log(value) - log(interval.low), reach)
    high = hypot(log(interval.high) - log(value), reach)
    return Interval(value * exp(-low), value * exp(high))


#: Name of a time in tables to what of a measurement it is.
TIMES: Final[Mapping[str, Callable[[RepetitionTimes], float | None]]] = {
    "to first mask": lambda taken: taken.compile_ns,
    "first mask": lambda taken: taken.first_mask_ns,
    "between masks": lambda taken: taken.between_ns,
}


def times_taken(
    case: CaseMeasurement, time: Callable[[RepetitionTimes], float | None]
) -> list[float]:
    """Return what each repetition of a case took; empty unless all have a time."""
    times = [time(repetition) for repetition in case.repetitions]
    return [] if None in times else [ns for ns in times if ns]


def noise_table(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Table:
    """Return, for each engine, its slowest repetition by its fastest one."""
    return Table.of_records(
        "An engine beside itself",
        (
            {
                "engine": name,
                "repetitions": max(
                    (len(case.repetitions) for case in cases), default=0
                ),
                **{what: _spread(cases, time) for what, time in TIMES.items()},
                "unlike": sum(case.unlike for case in cases),
            }
            for name, cases in cases_by_engine.items()
        ),
        name="repetitions",
        note="The slowest repetition by the fastest, each a geometric mean over all "
        "schemas: so far apart lie processes of one engine that took turns. unlike: "
        "schemas of which repetitions came to another outcome, or to another verdict "
        "on a text.",
    )


def _spread(
    cases: Sequence[CaseMeasurement], time: Callable[[RepetitionTimes], float | None]
) -> Cell:
    repeated = [times for case in cases if (times := times_taken(case, time))]
    offsets = repetition_offsets(repeated)
    return Ratio(exp(max(offsets) - min(offsets))) if offsets else None
