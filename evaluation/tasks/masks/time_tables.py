"""Where the time of masks goes: by length of text, by schema, at an engine's limits.

Half a per cent of the texts may be most of the time. So times stand by length, near
misses of length bounds stand alone, and the schemas that take longest are named.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.tables import Duration, Table, duration
from evaluation.results.measurements import of_length_bounds, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.cases import Row
    from evaluation.reporting.tables import Cell
    from evaluation.results.measurements import CaseMeasurement

    #: Measurements by engine.
    Cases = Mapping[str, Sequence[CaseMeasurement]]

#: Upper ends of the classes of texts, in masks that were computed.
_LENGTHS: Final = (64, 512, 4096)
_BOUNDS: Final = "near misses of length bounds"
#: Schemas that are named for each engine.
_MOST: Final = 5


def by_length(cases_by_engine: Cases) -> Table:
    """Return what texts of each length cost, near misses of length bounds apart."""
    rows: list[tuple[Cell, ...]] = []
    for name, cases in cases_by_engine.items():
        classes = list(_classes(cases))
        total = sum(float(times.values.sum()) for _, _, times in classes)
        for label, texts, times in classes:
            taken = float(times.values.sum())
            share = 100 * taken / total if total else None
            rows.append(
                (
                    name,
                    label,
                    texts,
                    len(times),
                    share,
                    *(_at(times, percent) for percent in (50.0, 99.0, 100.0)),
                    duration(times.mean),
                )
            )
    return Table(
        title="Time between masks by length of text",
        name="masks-lengths",
        columns=(
            "engine",
            "masks of a text",
            "texts",
            "masks",
            "% of time",
            "p50",
            "p99",
            "max",
            "mean",
        ),
        rows=tuple(rows),
        note="Near misses of length bounds (maxLength, minItems, ...) are as long as "
        "the bound: they have a line of their own here and are in no other table of "
        "times between masks.",
    )


def _classes(
    cases: Sequence[CaseMeasurement],
) -> Iterator[tuple[str, int | None, Quantiles]]:
    """Yield the classes that have texts: name, number of texts, times."""
    texts: dict[str, list[np.ndarray]] = defaultdict(list)
    for times in texts_of(cases):
        texts[_class(len(times))].append(np.frombuffer(times, dtype=np.int64))
    for label in (_class(length) for length in (*_LENGTHS, _LENGTHS[-1] + 1)):
        if label in texts:
            yield label, len(texts[label]), Quantiles.of(np.concatenate(texts[label]))
    bound = of_length_bounds(cases)
    if len(bound):
        number = sum(case.bound_texts for case in cases)
        yield _BOUNDS, number, bound


def _class(masks: int) -> str:
    for low, high in zip((0, *_LENGTHS), _LENGTHS, strict=False):
        if masks <= high:
            return f"{low + 1:,} to {high:,}"
    return f"more than {_LENGTHS[-1]:,}"


def _at(times: Quantiles, percent: float) -> Cell:
    found = times.at(percent)
    return None if found is None else Duration(found.value, found.at_least)


def slowest_schemas(cases_by_engine: Cases) -> Table:
    """Name the schemas that take each engine longest, from compile to last mask."""
    rows: list[tuple[Cell, ...]] = []
    for name, cases in cases_by_engine.items():
        for case in sorted(cases, key=_total, reverse=True)[:_MOST]:
            if _total(case):
                times = (*case.between_ns, *case.bound_between_ns)
                rows.append(
                    (
                        name,
                        "/".join(case.case_key),
                        case.outcome.replace("_", " "),
                        duration(_total(case)),
                        duration(case.compile_ns),
                        len(times),
                        duration(case.mean_between_ns),
                        duration(max(times, default=None)),
                    )
                )
    return Table(
        title="Slowest schemas",
        name="masks-slowest",
        columns=(
            "engine",
            "schema",
            "outcome",
            "all",
            "compile",
            "masks",
            "mean",
            "longest",
        ),
        rows=tuple(rows),
        note="all: the compile call and every mask and commit, near misses of length "
        "bounds too; mean: without these. Of each engine the first five.",
    )


def _total(case: CaseMeasurement) -> int:
    return (case.compile_ns or 0) + sum(case.between_ns) + sum(case.bound_between_ns)


def slowest_first_masks(cases_by_engine: Cases) -> Table:
    """Name the schemas whose first mask takes each engine longest."""
    rows: list[tuple[Cell, ...]] = []
    for name, cases in cases_by_engine.items():
        measured = [case for case in cases if case.first_mask_ns is not None]
        rows += [
            (
                name,
                "/".join(case.case_key),
                duration(case.first_mask_ns),
                duration(case.compile_ns),
                duration(case.mean_between_ns),
            )
            for case in sorted(measured, key=_first, reverse=True)[:_MOST]
        ]
    return Table(
        title="Slowest first masks",
        name="masks-first",
        columns=("engine", "schema", "first mask", "compile", "mean between masks"),
        rows=tuple(rows),
        note="first mask: making a matcher and computing its first mask, after the "
        "compile call. Of each engine the first five.",
    )


def _first(case: CaseMeasurement) -> int:
    return case.first_mask_ns or 0


#: How engines say that they have reached a bound of their own.
_LIMIT: Final = re.compile(
    r"\b(limit|fuel|max(imum)?|exceed\w*|too (many|large|long|deep|complex|big))\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d+")
_LONGEST: Final = 160


@dataclass(slots=True)
class _Limit:
    """One bound of an engine, and the smallest schema that meets it."""

    message: str
    phase: str
    schema: str
    size: int
    schemas: int = 1


class EngineLimits:
    """The bounds of engines that schemas have met, gathered while rows go by."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[tuple[str, str], _Limit] = {}

    def add(self, row: Row) -> None:
        """Take what an engine says of one case."""
        size = row.label.get("size")
        size = size if isinstance(size, int) else 0
        for phase, message in dict(_messages(row)).items():
            key = row.engine, _NUMBER.sub("#", message)
            schema = f"{row.config}/{row.id}"
            known = self._found.get(key)
            if known is None:
                self._found[key] = _Limit(message, phase, schema, size)
                continue
            known.schemas += 1
            if size < known.size:
                known.message, known.schema, known.size = message, schema, size

    def table(self) -> Table:
        """Return each bound with the smallest schema that meets it."""
        return Table(
            title="Limits that engines met",
            name="masks-limits",
            columns=("engine", "what it said", "in", "schemas", "the smallest of them"),
            rows=tuple(
                (engine, limit.message, limit.phase, limit.schemas, limit.schema)
                for (engine, _), limit in sorted(
                    self._found.items(), key=lambda item: (item[0][0], -item[1].schemas)
                )
            ),
            note="What engines say of bounds of their own (states, items, fuel, "
            "memory, time): messages alike but for their numbers are one.",
        )


def _messages(row: Row) -> Iterable[tuple[str, str]]:
    """Yield what an engine said of its limits, each with where it said so."""
    said = [(row.phase or "walk", row.detail)]
    said += [("walk", walk.detail) for walk in row.walks]
    for phase, text in said:
        line = text.partition("\n")[0].strip()
        if _LIMIT.search(line):
            yield phase, line[:_LONGEST]
