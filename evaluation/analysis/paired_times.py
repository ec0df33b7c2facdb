"""Times of two engines on the same schemas: as measured, and at one machine speed.

Between two runs the ratio is divided by that of the calibration work; how well engines
follow this work (docs/engines.md, Noise) is part of the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, log, sqrt
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, Final

from evaluation.reporting.bootstrap import geometric_ratio
from evaluation.reporting.statistics import t_quantile
from evaluation.reporting.tables import Cell, Ratio, Table
from evaluation.results.noise import (
    ASSUMED_DEVIATIONS,
    ASSUMED_WORTH,
    TIMES,
    Noise,
    times_taken,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.analysis.regression_gate import PairedEngines
    from evaluation.results.measurements import CaseMeasurement, RepetitionTimes

#: The standard deviation, as a logarithm, by which a process of an engine is faster or
#: slower than the calibration work in it says.
FOLLOWING_DEVIATION: Final = 0.01
#: Where that work takes longer by some per cent, so much of them may not be the
#: engine's, or the engine's beside them.
FOLLOWING_SLACK: Final = 0.4
_TIME_NOTE: Final = (
    "Geometric mean of b / a over the schemas that both compile: below 1 b is faster. "
    "Of each schema the geometric mean of its repetitions, without waits of a process "
    "for its core; between masks: of each schema's mean, without near misses of "
    "length bounds. The 95 % interval is by bootstrap over schemas, widened by what "
    "lies between processes of one engine (with few repeats, by what was measured "
    "before)."
)
_MACHINE_NOTE: Final = (
    " machine: how many times as long work that is always the same took in b's run; of "
    "two runs the times are as measured, and whether they differ is said by the next "
    "table."
)
_UNKNOWN_NOTE: Final = (
    " Two runs without calibration work in both (older ones): the interval does not "
    "hold what the machine's speed changed between them."
)
_CORRECTED_NOTE: Final = (
    "The table before, divided by machine: what is left is the engines'. --fail-slower "
    "looks at this. The interval holds also how well engines follow the machine's "
    "speed, and how well that is known."
)


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """How many times as long the same work took in another run."""

    value: float
    #: How far its logarithm may be off, in 95 of 100 cases.
    reach: float

    def corrected(self, measured: Ratio, processes: Sequence[int]) -> Ratio:
        """Return a ratio of times as it is at one speed of the machine.

        Args:
            measured: The ratio as measured.
            processes: How many processes each of the two sides has.
        """
        value = measured.value / self.value
        if measured.interval is None:
            return Ratio(value)
        scaled = type(measured.interval)(
            measured.interval.low / self.value, measured.interval.high / self.value
        )
        follows = Noise(FOLLOWING_DEVIATION, ASSUMED_WORTH).reach(processes)
        slack = FOLLOWING_SLACK * abs(log(self.value))
        return Ratio(value, widened(value, scaled, self.reach, follows, slack))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTime:
    """One kind of time of a pair of engines."""

    measured: Ratio
    #: At one speed of the machine; None within one run, and where that is not known.
    corrected: Ratio | None = None

    @property
    def judged(self) -> Ratio:
        """What says whether the engines differ."""
        return self.measured if self.corrected is None else self.corrected


def paired_times(pair: PairedEngines) -> dict[str, PairedTime | None]:
    """Return b / a for each kind of time, over the schemas that both compile."""
    compiled = [(a, b) for a, b in pair.cases if a.compiled and b.compiled]
    machine = machine_speed(pair)
    return {
        name: _paired_time(compiled, time, ASSUMED_DEVIATIONS[name], machine)
        for name, time in TIMES.items()
    }


def _paired_time(
    cases: Sequence[tuple[CaseMeasurement, CaseMeasurement]],
    time: Callable[[RepetitionTimes], float | None],
    assumed: float,
    machine: MachineSpeed | None,
) -> PairedTime | None:
    pairs = [
        (first, second)
        for a, b in cases
        if (first := times_taken(a, time)) and (second := times_taken(b, time))
    ]
    sides = [first for first, _ in pairs], [second for _, second in pairs]
    a, b = ([geometric_mean(case) for case in side] for side in sides)
    ratio = geometric_ratio(a, b)
    if ratio is None:
        return None
    processes = [max(map(len, side)) for side in sides]
    between = ratio.interval and widened(
        ratio.value, ratio.interval, Noise.of(sides, assumed).reach(processes)
    )
    measured = Ratio(ratio.value, between)
    return PairedTime(
        measured=measured,
        corrected=None if machine is None else machine.corrected(measured, processes),
    )


def machine_speed(pair: PairedEngines) -> MachineSpeed | None:
    """Return how many times as long the calibration work took in b's run as in a's.

    None within one run, and if it was not measured in both. The geometric mean over
    cases; its interval follows from their spread. Caches left by an engine affect the
    work after it, so cases of the same engine are compared: all engines in both runs,
    else the two of the pair.
    """
    if pair.a.run is pair.b.run:
        return None
    a, b = pair.a.calibration, pair.b.calibration
    both = [(a[engine], b[engine]) for engine in a if engine in b]
    logs = [
        second[case] - first[case]
        for first, second in both or [(a[pair.a.engine], b[pair.b.engine])]
        for case in first
        if case in second
    ]
    if not logs:
        return None
    freedom = max(1, len(logs) - 1)
    mean = fmean(logs)
    error = sqrt(fsum((one - mean) ** 2 for one in logs) / freedom / len(logs))
    return MachineSpeed(exp(mean), t_quantile(freedom) * error)


def times_tables(pairs: Sequence[PairedEngines]) -> Iterator[Table]:
    """Yield times as measured, and those of two runs at one speed of the machine."""
    times = [(pair, paired_times(pair), machine_speed(pair)) for pair in pairs]
    note = _TIME_NOTE
    if any(machine is not None for *_, machine in times):
        note += _MACHINE_NOTE
    if any(
        machine is None and pair.a.run is not pair.b.run for pair, _, machine in times
    ):
        note += _UNKNOWN_NOTE
    measured: list[dict[str, Cell]] = [
        {
            **_named(pair),
            **{name: one.measured if one else None for name, one in own.items()},
            "machine": Ratio(machine.value) if machine else None,
        }
        for pair, own, machine in times
    ]
    if any(any(own.values()) or machine for _, own, machine in times):
        table = Table.of_records("Times, paired", measured, note)
        yield table.without_empty_columns()
    corrected: list[dict[str, Cell]] = [
        {
            **_named(pair),
            **{name: one.corrected if one else None for name, one in own.items()},
        }
        for pair, own, machine in times
        if machine is not None
    ]
    if corrected:
        title = "Times, paired, at one speed of the machine"
        yield Table.of_records(
            title, corrected, _CORRECTED_NOTE
        ).without_empty_columns()


def _named(pair: PairedEngines) -> dict[str, Cell]:
    compiled = sum(a.compiled and b.compiled for a, b in pair.cases)
    return {"a": pair.a.label, "b": pair.b.label, "schemas": compiled}
