"""How far repetitions of an engine lie apart: an engine beside itself (A/A)."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Final

from evaluation.reporting.noise import repetition_offsets
from evaluation.reporting.tables import Ratio, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.results.measurements import CaseMeasurement, RepetitionTimes

#: Name of a time in tables to what of a measurement it is.
TIMES: Final[Mapping[str, Callable[[RepetitionTimes], float | None]]] = {
    "to first mask": lambda taken: taken.compile_ns,
    "first mask": lambda taken: taken.first_mask_ns,
    "between masks": lambda taken: taken.between_ns,
}
#: The standard deviation between processes of one engine, as a logarithm, that is
#: assumed of each time: what `bench/engine/engine_noise.py` has found for llguidance.
ASSUMED_DEVIATIONS: Final = {
    "to first mask": 0.02,
    "first mask": 0.05,
    "between masks": 0.03,
}


def times_taken(
    case: CaseMeasurement, time: Callable[[RepetitionTimes], float | None]
) -> list[float]:
    """Return what each repetition of a case took; empty unless all have a time."""
    times = [time(taken) for taken in case.repetitions]
    return [] if None in times else [ns for ns in times if ns]


def noise_table(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Table:
    """Return, for each engine, its slowest repetition by its fastest one."""
    rows: list[tuple[Cell, ...]] = []
    for name, cases in cases_by_engine.items():
        count = max((len(case.repetitions) for case in cases), default=0)
        unlike = sum(case.unlike for case in cases)
        spreads = [_spread(cases, time) for time in TIMES.values()]
        rows.append((name, count, *spreads, unlike))
    return Table(
        title="An engine beside itself",
        name="repetitions",
        columns=("engine", "repetitions", *TIMES, "unlike"),
        rows=tuple(rows),
        note="The slowest repetition by the fastest, each a geometric mean over all "
        "schemas: so far apart lie processes of one engine that took turns. unlike: "
        "schemas of which repetitions came to another outcome, or to another verdict "
        "on a text.",
    )


def _spread(
    cases: Sequence[CaseMeasurement], time: Callable[[RepetitionTimes], float | None]
) -> Cell:
    known = [taken for case in cases if (taken := times_taken(case, time))]
    offsets = repetition_offsets(known)
    return Ratio(exp(max(offsets) - min(offsets))) if offsets else None
