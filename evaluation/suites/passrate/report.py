"""The report of the prompted pass rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.reporting.report import Report
from evaluation.reporting.tables import Rate, Table
from evaluation.results.suite_tables import (
    classes_table,
    costs,
    groups_of,
    reading,
    repairs_table,
    texts_of_group,
)
from evaluation.suites.passrate.settings import FailureClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.reporting.tables import Cell

#: Share of answers without an answer from which on a rate says little of the model.
_DEGRADED = 0.01
_NOTE = (
    "passed: of all responses but those whose schema cannot be used. answered: of the "
    "same without those of class api_error. strict: no member that the schema does not "
    "declare; schema: what the schema itself accepts. Brackets: Wilson's 95 % "
    "interval. degraded: over 1 % are of class api_error."
)


def report(run: ScoredRun) -> Report:
    """Return the tables of a run of the prompted pass rate."""
    explained = {kind.value: kind.explanation for kind in FailureClass}
    repairs = repairs_table(run)
    return Report(
        tables=(
            rates(run),
            *((repairs,) if repairs.rows else ()),
            classes_table(run, explained),
            costs(run),
        )
    )


def rates(run: ScoredRun) -> Table:
    """Return the pass rates of every model and condition, by config and over all."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups_of(run.by_label):
        for label, listed in run.by_label.items():
            rows.append((group, label, *_rates(texts_of_group(listed, group))))
    return Table(
        title="Prompted pass rate",
        columns=(
            "config",
            "model",
            "responses",
            "passed",
            "answered",
            "strict",
            "schema",
            "degraded",
        ),
        rows=tuple(rows),
        note=f"{_NOTE} {reading(run)}",
        name="pass-rate",
    )


def _rates(listed: Sequence[ScoredResponse]) -> tuple[Cell, ...]:
    counted = [one.verdict for one in listed if one.verdict.counted]
    failed = sum(
        verdict.failure_class == FailureClass.API_ERROR.value for verdict in counted
    )
    passed = sum(verdict.passed for verdict in counted)
    strict = sum(verdict.scores.get("strict", 0.0) for verdict in counted)
    lenient = sum(verdict.scores.get("schema", 0.0) for verdict in counted)
    return (
        len(listed),
        Rate(passed, len(counted)),
        Rate(passed, len(counted) - failed),
        Rate(int(strict), len(counted)),
        Rate(int(lenient), len(counted)),
        "yes" if failed > _DEGRADED * len(counted) else "",
    )
