"""Figures that are not the benchmark's own, and conditions compared on one set."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from evaluation.core.suite_records import FREE
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.statistics import mcnemar
from evaluation.reporting.tables import Shift, Table
from evaluation.suites.sob.answers.judging import LENIENT
from evaluation.suites.sob.metrics.names import Metric
from evaluation.suites.sob.report.figures import counted, figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.reporting.tables import Cell

_LENIENTLY = (Metric.JSON_PARSE, Metric.JSON_PASS, Metric.VALUE_ACCURACY)


def lenient_table(run: ScoredRun) -> Table:
    """Return what the same answers are worth if words around the JSON are let pass."""
    rows: list[tuple[Cell, ...]] = []
    for label, listed in run.by_label.items():
        own = counted(listed)
        cells: list[Cell] = [label, len(own)]
        for metric in _LENIENTLY:
            cells.append(_mean(own, metric))
            cells.append(_mean(own, f"{LENIENT}{metric}"))
        rows.append(tuple(cells))
    return Table(
        title="Read strictly and leniently",
        columns=(
            "model",
            "records",
            *("parse", "lenient parse"),
            *("pass", "lenient pass"),
            *("value", "lenient value"),
        ),
        rows=tuple(rows),
        note="Strictly the answer is JSON and nothing else, as the paper counts. "
        "Leniently thinking, a fence and words around the braces are taken away. "
        "Plain means over all sources.",
        name="lenient",
    )


def paired_table(run: ScoredRun) -> Table:
    """Return what each condition changes, record by record."""
    rows: list[tuple[Cell, ...]] = []
    for base, other in _pairs(run.by_label):
        ours, theirs = _by_record(run.by_label[base]), _by_record(run.by_label[other])
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            continue
        lost = sum(
            ours[key].verdict.passed > theirs[key].verdict.passed for key in both
        )
        won = sum(ours[key].verdict.passed < theirs[key].verdict.passed for key in both)
        rows.append(
            (
                other,
                base,
                len(both),
                *(
                    _shift(
                        [ours[key] for key in both],
                        [theirs[key] for key in both],
                        metric,
                    )
                    for metric in (Metric.JSON_PASS, Metric.VALUE_ACCURACY)
                ),
                lost,
                won,
                mcnemar(lost, won),
            )
        )
    return Table(
        title="Conditions compared on the same records",
        columns=(
            "condition",
            "against",
            "records",
            "pass",
            "value",
            "lost",
            "won",
            "p",
        ),
        rows=tuple(rows),
        note="pass, value: mean difference of JSON pass and Value Accuracy, with a "
        "95 % bootstrap interval of pairs. lost, won: records that only the other "
        "answers perfectly and validly; p: McNemar's exact test of them.",
        name="paired",
    )


def _pairs(
    by_label: Mapping[str, Sequence[ScoredResponse]],
) -> list[tuple[str, str]]:
    """Return which labels are compared: each with the free one of its model."""
    free: dict[str, str] = {}
    for label, listed in by_label.items():
        if listed and listed[0].condition == FREE:
            free.setdefault(listed[0].model, label)
    pairs = [
        (free[listed[0].model], label)
        for label, listed in by_label.items()
        if listed and listed[0].model in free and free[listed[0].model] != label
    ]
    if pairs or len(by_label) < 2:  # noqa: PLR2004 (a pair)
        return pairs
    first, *others = by_label
    return [(first, other) for other in others]


def _by_record(
    listed: Sequence[ScoredResponse],
) -> dict[tuple[str, int], ScoredResponse]:
    return {(one.record, one.repeat): one for one in counted(listed)}


def _shift(
    ours: Sequence[ScoredResponse], theirs: Sequence[ScoredResponse], metric: Metric
) -> Cell:
    found = mean_difference(
        [figure(one, metric) for one in ours], [figure(one, metric) for one in theirs]
    )
    return None if found is None else Shift(found.value, found.interval)


def _mean(listed: Sequence[ScoredResponse], name: str) -> float | None:
    return fmean(figure(one, name) for one in listed) if listed else None
