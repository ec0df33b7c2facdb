"""The tables of task `masks`: coverage, causes, and time.

Percentiles are over all masks of all walks of an engine that are part of its
standing; the time of a compile that ended at its deadline is at least that deadline.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evaluation.standings import Standing, apart, right, standing
from evaluation.tables import Duration, Rate, Size, Table
from evaluation.tasks.base import Report
from evaluation.units import Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluation.tables import Cell
    from evaluation.tasks.base import RunRows
    from evaluation.units import Row, Walked

_SHARES = (50, 90, 99, 99.9, 100)
_MOST_KEYWORDS = 30


@dataclass(slots=True)
class _Seen:
    """What is gathered of one engine while its rows go by."""

    standings: Counter[Standing] = field(default_factory=Counter)
    compile_ns: list[int] = field(default_factory=list)
    late_compiles: int = 0
    first_ns: list[int] = field(default_factory=list)
    masks: list[np.ndarray] = field(default_factory=list)
    commits: list[np.ndarray] = field(default_factory=list)
    valid: Counter[bool | None] = field(default_factory=Counter)
    invalid: Counter[bool | None] = field(default_factory=Counter)
    lied: int = 0
    #: Keyword to what became of the near misses that violate it.
    keywords: dict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    orders: Counter[bool | None] = field(default_factory=Counter)
    forced: int = 0
    forced_of: int = 0
    rss_bytes: int = 0
    busy: int = 0
    units: int = 0

    def add(self, row: Row) -> None:
        """Take one row."""
        self.units += 1
        self.standings[standing(row)] += 1
        self.busy += row.quiet is False
        self.rss_bytes = max(self.rss_bytes, row.rss_bytes or 0)
        if row.compile_ns is not None:
            self.compile_ns.append(row.compile_ns)
        self.late_compiles += row.result is Result.TIMEOUT and row.phase == "compile"
        if row.first_mask_ns is not None:
            self.first_ns.append(row.first_mask_ns)
        for walked in row.walks:
            self._add_walk(walked)

    def _add_walk(self, walked: Walked) -> None:
        if apart(walked):
            self.orders[right(walked)] += 1
            return
        self.masks.append(np.asarray(walked.mask_ns, dtype=np.int64))
        self.commits.append(np.asarray(walked.commit_ns, dtype=np.int64))
        self.lied += walked.verdict is Verdict.LIED
        (self.valid if walked.valid else self.invalid)[right(walked)] += 1
        if not walked.valid:
            keyword = str(walked.label.get("keyword") or "(unknown)")
            self.keywords[keyword][_became(walked)] += 1
        if walked.valid and walked.forced is not None:
            self.forced += walked.forced
            self.forced_of += len(walked.mask_ns)


def _became(walked: Walked) -> str:
    if walked.verdict is Verdict.NOT_RUN:
        return "not run"
    return {True: "blocked", False: "accepted", None: "lied"}[right(walked)]


def report_of(run: RunRows) -> Report:
    """Return the tables of a run."""
    engines: dict[str, _Seen] = {}
    for row in run.rows():
        if row.task == "masks":
            engines.setdefault(row.engine, _Seen()).add(row)
    if not engines:
        return Report(tables=())
    tables = [
        _coverage(engines),
        _instances(engines),
        _times(engines),
        _keywords(engines),
    ]
    if any(seen.orders for seen in engines.values()):
        tables.append(_orders(engines))
    return Report(tables=tuple(tables))


def _coverage(engines: Mapping[str, _Seen]) -> Table:
    names = list(engines)
    rows: list[tuple[Cell, ...]] = []
    for each in Standing:
        if any(seen.standings[each] for seen in engines.values()):
            name = each.value.replace("_", " ")
            if each is Standing.UNTESTED:
                name = "no instances"
            rows.append((name, *(_of_units(seen, each) for seen in engines.values())))
    return Table(
        title="Schemas by what became of them",
        name="masks-coverage",
        columns=("schemas", *names),
        rows=tuple(rows),
        note="Passed: every valid instance accepted to its end, every invalid one "
        "blocked. A schema without instances never passes.",
    )


def _of_units(seen: _Seen, which: Standing) -> Rate:
    return Rate(seen.standings[which], seen.units)


def _instances(engines: Mapping[str, _Seen]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, seen in engines.items():
        rows.append(
            (
                name,
                _right(seen.valid),
                _right(seen.invalid),
                seen.lied,
                seen.valid[None] + seen.invalid[None] - seen.lied,
                Rate(seen.forced, seen.forced_of) if seen.forced_of else None,
            )
        )
    return Table(
        title="Instances",
        name="masks-instances",
        columns=(
            "engine",
            "valid accepted",
            "invalid blocked",
            "lied about",
            "not run",
            "tokens forced",
        ),
        rows=tuple(rows),
        note="Of the instances that were walked to a verdict. Forced: the engine "
        "offers the token as the only way on, in valid instances.",
    )


def _right(counts: Counter[bool | None]) -> Rate:
    return Rate(counts[True], counts[True] + counts[False])


def _times(engines: Mapping[str, _Seen]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, seen in engines.items():
        rows += [
            (name, "compile (to first mask)", *_spread(seen.compile_ns)),
            (name, "first matcher and mask", *_spread(seen.first_ns)),
            (name, "mask", *_spread(_joined(seen.masks))),
            (name, "commit", *_spread(_joined(seen.commits))),
        ]
    noise = ", ".join(
        f"{name}: {seen.busy:,} of {seen.units:,}" for name, seen in engines.items()
    )
    peak = ", ".join(
        f"{name}: {Size(seen.rss_bytes)}" for name, seen in engines.items()
    )
    late = sum(seen.late_compiles for seen in engines.values())
    return Table(
        title="Time",
        name="masks-time",
        columns=("engine", "of", "count", "mean", *(f"p{each:g}" for each in _SHARES)),
        rows=tuple(rows),
        note=f"p100 is the longest. Compiles that ended at their deadline are not "
        f"among them ({late:,}). Units during which the machine was not quiet: "
        f"{noise}. Largest process: {peak}.",
    )


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    listed = list(parts)
    return np.concatenate(listed) if listed else np.zeros(0, dtype=np.int64)


def _spread(values: np.ndarray | list[int]) -> tuple[Cell, ...]:
    """Return count, mean and percentiles (nearest rank from below)."""
    ordered = np.sort(np.asarray(values, dtype=np.int64))
    if not len(ordered):
        return (0, None, *(None for _ in _SHARES))
    places = [min(len(ordered) - 1, int(len(ordered) * each / 100)) for each in _SHARES]
    return (
        len(ordered),
        Duration(float(ordered.mean())),
        *(Duration(float(ordered[place])) for place in places),
    )


def _keywords(engines: Mapping[str, _Seen]) -> Table:
    totals: Counter[str] = Counter()
    for seen in engines.values():
        for keyword, counts in seen.keywords.items():
            totals[keyword] += counts.total()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (keyword, *(_enforced(seen, keyword) for seen in engines.values()))
        for keyword, _ in totals.most_common(_MOST_KEYWORDS)
    )
    return Table(
        title="Near misses blocked, by the keyword that they violate",
        name="masks-keywords",
        columns=("keyword", *engines),
        rows=rows,
        note="Of the near misses walked to a verdict; what is missing was accepted: "
        "the engine does not enforce the keyword there.",
    )


def _enforced(seen: _Seen, keyword: str) -> Rate:
    counts = seen.keywords[keyword]
    return Rate(counts["blocked"], counts["blocked"] + counts["accepted"])


def _orders(engines: Mapping[str, _Seen]) -> Table:
    return Table(
        title="Valid instances with the members of their objects in another order",
        name="masks-orders",
        columns=("engine", "accepted"),
        rows=tuple((name, _right(seen.orders)) for name, seen in engines.items()),
        note="Apart from all other figures: the specification gives members no order.",
    )
