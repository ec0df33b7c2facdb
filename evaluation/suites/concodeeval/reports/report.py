"""The report of a run: the paper's forms first, then what they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evaluation.reporting.report import Report
from evaluation.results.suite_tables import classes_table, costs
from evaluation.suites.concodeeval.reports import (
    generation_tables,
    paper_tables,
    validation_tables,
)
from evaluation.suites.concodeeval.reports.answers import answers_of
from evaluation.suites.concodeeval.reports.length_table import length_table
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
    TaskName,
)

if TYPE_CHECKING:
    from evaluation.core.suite import ScoredRun
    from evaluation.reporting.tables import Table
    from evaluation.suites.concodeeval.reports.answers import AnswersByLabel


def report(run: ScoredRun) -> Report:
    """Return the tables and the plot of a run.

    Table 1, or 2 for a run with examples, to Table 6 and Figure 1 have the paper's
    forms; tables of a task that was not asked are left out.
    """
    settings = msgspec.convert(run.facts.get("settings") or {}, ConcodeSettings)
    generation = answers_of(run, TaskName.GENERATION)
    validation = answers_of(run, TaskName.VALIDATION)
    tables = [
        paper_tables.accuracy_table(
            generation,
            validation,
            few_shot=settings.few_shot,
            paper_xml=settings.xml == "paper",
        ),
        length_table(generation, validation),
    ]
    if generation:
        tables += _of_generation(generation, settings)
    if validation:
        tables += _of_validation(validation)
    explained = {kind.value: kind.explanation for kind in AnswerClass}
    return Report(
        tables=(*tables, classes_table(run, explained), costs(run)),
        plots=(generation_tables.locality_plot(generation),) if generation else (),
    )


def _of_generation(
    generation: AnswersByLabel, settings: ConcodeSettings
) -> list[Table]:
    paper_xml = settings.xml == "paper"
    return [
        generation_tables.keyword_table(generation),
        paper_tables.root_table(generation, paper_xml=paper_xml),
        generation_tables.locality_table(generation, settings.locality),
        generation_tables.cell_table(generation),
        generation_tables.family_table(generation),
    ]


def _of_validation(validation: AnswersByLabel) -> list[Table]:
    return [
        paper_tables.f1_table(validation),
        validation_tables.cell_table(validation),
        validation_tables.keyword_table(validation),
        validation_tables.calibration_table(validation),
        validation_tables.unclear_table(validation),
        validation_tables.representation_tests(validation),
    ]
