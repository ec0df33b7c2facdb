"""The report of IFStruct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.reporting.report import Report
from evaluation.results.suite_tables import classes_table, costs, pass_rates
from evaluation.suites.ifstruct.reporting.condition_tables import (
    free_or_constrained,
    readings,
)
from evaluation.suites.ifstruct.reporting.requirement_tables import (
    published_classes,
    requirement_costs,
)
from evaluation.suites.ifstruct.reporting.slice_tables import by_choice, by_kind, ladder
from evaluation.suites.ifstruct.reporting.verdicts import judged
from evaluation.suites.ifstruct.verifier.findings import Failure

if TYPE_CHECKING:
    from evaluation.core.suite import ScoredRun


def report(run: ScoredRun) -> Report:
    """Return the tables of a run."""
    responses = judged(run)
    explained = {str(failure): failure.explanation for failure in Failure}
    tables = (
        pass_rates(run),
        readings(responses),
        free_or_constrained(responses),
        requirement_costs(responses),
        ladder(responses),
        by_choice(responses),
        by_kind(responses),
        classes_table(run, explained),
        published_classes(responses),
        costs(run),
    )
    return Report(tables=tuple(table for table in tables if table is not None))
