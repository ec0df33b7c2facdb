"""Pass rates by each choice of the rows, by kind of thing, and by difficulty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import Table
from evaluation.suites.ifstruct.records.slices import SLICES
from evaluation.suites.ifstruct.reporting.verdicts import pass_rate, structure_rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.ifstruct.reporting.verdicts import JudgedResponse

#: Rungs of the ladder: as many rows on each as can be.
_RUNGS: Final = 5
_NOTE: Final = (
    "structure: wrapper, number of items and every field are right, whatever stands "
    "around the answer. Brackets: Wilson's 95 % interval."
)


def by_choice(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return the pass rate by every alternative of every choice of the rows."""
    rows: list[tuple[Cell, ...]] = []
    for name in SLICES:
        values = {one.slice(name) for listed in responses.values() for one in listed}
        for value in sorted(values):
            for label, listed in responses.items():
                own = [one for one in listed if one.slice(name) == value]
                rows.append((name, value, label, pass_rate(own), structure_rate(own)))
    return Table(
        title="By what was drawn",
        columns=("choice", "drawn", "model", "passed", "structure"),
        rows=tuple(rows),
        note=_NOTE,
        name="choices",
    )


def by_kind(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return the pass rate by kind of thing."""
    kinds = sorted({one.kind for listed in responses.values() for one in listed})
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        for label, listed in responses.items():
            own = [one for one in listed if one.kind == kind]
            rows.append((kind, label, pass_rate(own), structure_rate(own)))
    return Table(
        title="By kind of thing",
        columns=("kind", "model", "passed", "structure"),
        rows=tuple(rows),
        note=_NOTE,
        name="kinds",
    )


def ladder(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return the pass rate by how much the rows ask for, the least first."""
    everything = sorted(
        {one.difficulty for listed in responses.values() for one in listed}
    )
    points = [one.difficulty for listed in responses.values() for one in listed]
    rows: list[tuple[Cell, ...]] = []
    for low, high in _rungs(sorted(points), everything):
        for label, listed in responses.items():
            own = [one for one in listed if low <= one.difficulty <= high]
            span = f"{low} to {high}" if low < high else str(low)
            rows.append((span, label, pass_rate(own), structure_rate(own)))
    return Table(
        title="Ladder of difficulty",
        columns=("points", "model", "passed", "structure"),
        rows=tuple(rows),
        note="Points of a row: one for each field, enum, bound, list and extended "
        "rule, one for each wish about code block, commentary and wrapper, one for a "
        "text to escape, one for each choice that the text takes back.",
        name="ladder",
    )


def _rungs(points: Sequence[int], values: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of points that part the responses into rungs of like size."""
    if not points:
        return []
    cuts = [points[len(points) * rung // _RUNGS] for rung in range(1, _RUNGS)]
    starts = sorted({values[0], *cuts})
    ends = [max(value for value in values if value < start) for start in starts[1:]]
    return list(zip(starts, [*ends, values[-1]], strict=True))
