"""Tables of task `scaling`: how times grow with size."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, sqrt
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Result, Row
from evaluation.reporting import student
from evaluation.reporting.charts import lines
from evaluation.reporting.report import Plot, Report
from evaluation.reporting.statistics import Interval
from evaluation.reporting.tables import Cell, Duration, Estimate, Table
from evaluation.results.outcomes import Outcome, number_in, outcome_of
from evaluation.tasks.scaling import NAME
from evaluation.tasks.scaling.families import families

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.run_header import LimitsHeader
    from evaluation.core.task import RunRows

#: Sizes below this share of the largest are left out: there the fixed cost of a call
#: hides what grows.
TAIL: Final = 64
#: Different sizes without which no slope is given.
_FEWEST: Final = 3


def exponent(points: Sequence[tuple[float, float]]) -> Estimate | None:
    """Fit k of cost = c * size ** k to points (size, cost) by least squares of logs.

    Only the largest sizes count, down to 1/64 of the largest. None where fewer than
    three sizes are left, or something is not positive. The 95 % interval is by
    Student's t; None where the points leave no freedom.
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
    paired = list(zip(across, up, strict=True))
    slope = sum((x - middle) * (y - height) for x, y in paired) / spread
    freedom = count - 2
    if freedom < 1:
        return Estimate(slope)
    residual = sum((y - height - slope * (x - middle)) ** 2 for x, y in paired)
    wide = student.quantile(freedom) * sqrt(residual / freedom / spread)
    return Estimate(slope, Interval(low=slope - wide, high=slope + wide))


#: Costs, by what tables call them.
_COMPILE, _FIRST, _MASK, _WORST = "compile", "first mask", "mean mask", "longest mask"
#: Results that have another name here.
_WORDS: Final = {Result.COMPILE_ERROR: "refused", Result.TIMEOUT: "deadline"}


@dataclass(slots=True)
class _Size:
    """What was measured at one size of one family, with one engine.

    Another process only ever adds time, so of all repetitions the least counts: of
    the compile call, and of each token's mask.
    """

    compile_ns: int | None = None
    first_ns: int | None = None
    masks_ns: tuple[int, ...] = ()
    #: What was cut off by the deadline: the compile call or the masks.
    cut: set[str] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Take one repetition."""
        self.outcomes.add(_outcome(row))
        if row.result is Result.TIMEOUT:
            self.cut.add(_COMPILE if row.phase == "compile" else _MASK)
        if row.result is not Result.COMPILE_ERROR:
            self.compile_ns = _least(self.compile_ns, row.compile_ns)
            self.first_ns = _least(self.first_ns, row.first_mask_ns)
        for walked in row.walks:
            if walked.valid and len(walked.mask_ns) == walked.tokens:
                # The first mask has a column of its own.
                later = walked.mask_ns[1:]
                masks = self.masks_ns or later
                self.masks_ns = tuple(map(min, masks, later))

    def cost(self, name: str) -> float | None:
        """Return one cost in nanoseconds; None where it was not measured."""
        if name == _COMPILE:
            return self.compile_ns
        if name == _FIRST:
            return self.first_ns
        if not self.masks_ns:
            return None
        if name == _WORST:
            return max(self.masks_ns)
        return sum(self.masks_ns) / len(self.masks_ns)

    def cell(self, name: str, deadline: float) -> Cell:
        """Return one cost; at least the deadline if it was cut off."""
        if name in self.cut:
            return Duration(deadline, at_least=True)
        cost = self.cost(name)
        return None if cost is None else Duration(cost)


def _least(current: int | None, another: int | None) -> int | None:
    if current is None or another is None:
        return another if current is None else current
    return min(current, another)


def _outcome(row: Row) -> str:
    if row.result is not Result.OK:
        phase = f" ({row.phase})" if row.result is not Result.COMPILE_ERROR else ""
        return _WORDS.get(row.result, row.result.replace("_", " ")) + phase
    outcome = outcome_of(row)
    return "ok" if outcome is Outcome.PASSED else outcome.value.replace("_", " ")


def report_of(run: RunRows) -> Report:
    """Return tables and plots of the rows of task `scaling`."""
    engines: dict[str, dict[str, dict[int, _Size]]] = {}
    for row in run.rows():
        if row.task != NAME:
            continue
        family = str(row.label.get("family", row.config))
        sizes = engines.setdefault(row.engine, {}).setdefault(family, {})
        sizes.setdefault(number_in(row, "size", 0), _Size()).add(row)
    limits = run.header.limits
    return Report(
        tables=(_exponents(engines), _curves(engines, limits)),
        plots=tuple(_plots(engines)),
    )


_Engines = dict[str, dict[str, dict[int, _Size]]]


def _exponents(engines: _Engines) -> Table:
    rows = [
        (
            engine,
            name,
            *(exponent(list(_measured(sizes, cost))) for cost in (_COMPILE, _MASK)),
            *_end(sizes),
        )
        for engine, by_family in engines.items()
        for name, sizes in _in_order(by_family)
    ]
    return Table(
        title="How cost grows",
        name="scaling-exponents",
        columns=("engine", "family", "compile", "mean mask", "to size", "then", "why"),
        rows=tuple(rows),
        note="compile and mean mask: k of cost = c n^k with its 95 % interval, fitted "
        f"to the logarithms at sizes of at least 1/{TAIL} of the largest that was "
        "measured; what the deadline cut off is not in the fit. to size: the largest "
        "size up to which everything came out right.",
    )


def _measured(sizes: Mapping[int, _Size], cost: str) -> Iterator[tuple[float, float]]:
    for size, measured in sorted(sizes.items()):
        value = measured.cost(cost)
        if value is not None and cost not in measured.cut:
            yield float(size), value


def _end(sizes: Mapping[int, _Size]) -> tuple[Cell, Cell, Cell]:
    """Return the last size that came out right, the next one, and why it did not."""
    reached = None
    for size, measured in sorted(sizes.items()):
        if measured.outcomes != {"ok"}:
            return reached, size, ", ".join(sorted(measured.outcomes - {"ok"}))
        reached = size
    return reached, None, None


def _curves(engines: _Engines, limits: LimitsHeader) -> Table:
    compile_ns = float(limits.compile_ns or 0)
    run_ns = float(limits.run_ns or 0)
    rows = [
        (
            engine,
            name,
            size,
            measured.cell(_COMPILE, compile_ns),
            *(measured.cell(cost, run_ns) for cost in (_FIRST, _MASK, _WORST)),
            ", ".join(sorted(measured.outcomes)),
        )
        for engine, by_family in engines.items()
        for name, sizes in _in_order(by_family)
        for size, measured in sorted(sizes.items())
    ]
    costs = (_COMPILE, _FIRST, _MASK, _WORST)
    return Table(
        title="Cost by size",
        name="scaling-curves",
        columns=("engine", "family", "size", *costs, "outcome"),
        rows=tuple(rows),
        note="The least of the repetitions: of the compile call, and of each token's "
        "mask in the accepted text, the first apart. What was cut off by the deadline "
        "takes at least that long.",
    )


def _in_order(
    by_family: Mapping[str, dict[int, _Size]],
) -> Iterable[tuple[str, dict[int, _Size]]]:
    order = [*families(), *by_family]
    return sorted(by_family.items(), key=lambda item: order.index(item[0]))


def _plots(engines: _Engines) -> Iterator[Plot]:
    named = families()
    names = dict.fromkeys(name for by_family in engines.values() for name in by_family)
    for name in sorted(names, key=[*named, *names].index):
        counts = named[name].counts if name in named else "size"
        for cost in (_COMPILE, _MASK):
            own = {
                engine: by_family.get(name, {}) for engine, by_family in engines.items()
            }
            late = {
                engine: [
                    float(size) for size in sorted(sizes) if cost in sizes[size].cut
                ]
                for engine, sizes in own.items()
            }
            curves = {
                engine: [(size, ns / 1e6) for size, ns in _measured(sizes, cost)]
                for engine, sizes in own.items()
            }
            yield lines(
                f"scaling-{name}-{cost.replace(' ', '-')}",
                f"{name}: {cost}",
                {
                    engine: points
                    for engine, points in curves.items()
                    if points or late[engine]
                },
                x_label=counts,
                y_label="milliseconds",
                cut_off=late,
            )
