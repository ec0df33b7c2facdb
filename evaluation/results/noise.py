"""Noise of times: how far repetitions of one engine lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, hypot, log, sqrt
from typing import TYPE_CHECKING, Final

from evaluation.reporting.statistics import Interval, t_quantile
from evaluation.reporting.tables import Cell, Ratio, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.results.measurements import CaseMeasurement, RepetitionTimes

#: How many measured degrees of freedom an assumed deviation is worth.
ASSUMED_WORTH: Final = 8


@dataclass(frozen=True, slots=True)
class Noise:
    """What lies between processes of one engine: a standard deviation of logarithms."""

    deviation: float
    #: Degrees of freedom that it rests on.
    freedom: int = ASSUMED_WORTH

    @classmethod
    def of(cls, sides: Iterable[Sequence[Sequence[float]]], assumed: float) -> Noise:
        """Return the noise of several engines together, shrunk to an assumption.

        The assumption is the scale of an inverse chi-square prior (A. Gelman et al.,
        2013, "Bayesian Data Analysis", 2.6): it counts less the more repetitions there
        are.

        Args:
            sides: Of each engine, for each schema, the times of its repetitions.
            assumed: The deviation before anything is measured.
        """
        squares, freedom = ASSUMED_WORTH * assumed**2, ASSUMED_WORTH
        for cases in sides:
            offsets = repetition_offsets(cases)
            if len(offsets) > 1:
                squares += fsum(offset * offset for offset in offsets)
                freedom += len(offsets) - 1
        return cls(sqrt(squares / freedom), freedom)

    def reach(self, processes: Sequence[int]) -> float:
        """Return how far it alone moves a ratio's logarithm, in 95 of 100 comparisons.

        Args:
            processes: How many processes each of the two sides has.
        """
        wide = t_quantile(self.freedom) * self.deviation
        return wide * sqrt(fsum(1 / count for count in processes))


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


def widened(value: float, interval: Interval, *reaches: float) -> Interval:
    """Return the interval of a ratio with what else may have moved it.

    Independent errors add up as squares do.

    Args:
        value: The ratio.
        interval: Its interval without.
        reaches: How far each other error moves its logarithm.
    """
    low = hypot(log(value) - log(interval.low), *reaches)
    high = hypot(log(interval.high) - log(value), *reaches)
    return Interval(value * exp(-low), value * exp(high))


#: Name of a time in tables to what of a measurement it is.
TIMES: Final[Mapping[str, Callable[[RepetitionTimes], float | None]]] = {
    "to first mask": lambda taken: taken.compile_ns,
    "first mask": lambda taken: taken.first_mask_ns,
    "between masks": lambda taken: taken.between_ns,
}
#: The standard deviation between processes of one engine, as a logarithm, that is
#: assumed of each time, as repeated runs of llguidance showed it.
ASSUMED_DEVIATIONS: Final = {
    "to first mask": 0.02,
    "first mask": 0.05,
    "between masks": 0.03,
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
