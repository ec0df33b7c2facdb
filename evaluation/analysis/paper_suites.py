"""Tables 5, 6 and 7 of arXiv 2501.10868: the official test suite, and quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from curation.system.errors import NoInput
from evaluation.analysis.paper_setup import (
    framework_of,
    printed,
    quality_differences,
    told,
    version_difference,
)
from evaluation.analysis.run_report import reports
from evaluation.reporting.tables import Table
from evaluation.results.suite_rows import scored_run
from evaluation.suites.quality.report import PAPER_FORM
from evaluation.tasks.official_suite import NAME as TEST_SUITE
from evaluation.tasks.official_suite.report import (
    SuiteFailure,
    by_category,
    failing_categories,
    find_leaders,
    levels,
    outcome,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.analysis.paper_setup import SetupDifference
    from evaluation.reporting.tables import Cell
    from evaluation.results.reader import RecordedRun
    from evaluation.tasks.official_suite.report import CaseOutcome

#: The draft of the paper's suite.
_DRAFT: Final = "2020-12"
_FAILURES: Final = (
    SuiteFailure.COMPILE_ERROR,
    SuiteFailure.OVER_CONSTRAINED,
    SuiteFailure.UNDER_CONSTRAINED,
)
_TITLES: Final[Mapping[int, str]] = {
    5: "Table 5: categories in which a failure of each kind occurs",
    6: "Table 6: categories with a level of coverage",
    7: "Table 7: accuracy on the quality tasks",
}
_COLUMNS: Final[Mapping[int, tuple[str, ...]]] = {
    5: ("Compile-Error", "Over-constrained", "Under-constrained"),
    6: (
        "> 0%",
        "> 25%",
        "> 50%",
        "> 75%",
        "100%",
        "Tied for highest",
        "Single highest",
    ),
    7: ("Last Letters (%)", "Shuffle Objects (%)", "GSM8K (%)"),
}
_COMMANDS: Final[Mapping[int, str]] = {
    5: "csbdata eval --task test-suite --set drafts=2020-12 --engine NAME@paper",
    6: "csbdata eval --task test-suite --set drafts=2020-12 --engine NAME@paper",
    7: "csbdata suite run quality --engine none --engine llguidance",
}
_SUITE_NOTE: Final = (
    "Mandatory tests of 2020-12 without those that need a remote schema. Each engine's "
    "tokenizer is that of the run; the paper's is Llama 3.1's."
)
_QUALITY_NOTE: Final = (
    "The printed rows are of Llama-3.1-8B-Instruct, each framework at its version of "
    "the paper's time."
)
#: The numbers of the tables here.
SUITE_TABLES: Final = frozenset(_TITLES)


def suite_table(number: int, runs: Sequence[RecordedRun]) -> Table:
    """Return Table 5, 6 or 7, filled from runs, with what the paper prints below.

    Args:
        number: 5 or 6 for runs of the task `test-suite`, 7 for runs of suite `quality`.
        runs: The runs; an engine has a row for each.

    Raises:
        NoInput: no run has anything for the table; says which command gives it.
    """
    quality = number == 7  # noqa: PLR2004 (its number)
    sides = list(_quality_sides(runs)) if quality else []
    rows: list[tuple[Cell, ...]] = (
        [
            (*side.cells, ", ".join(one.what for one in side.differences))
            for side in sides
        ]
        if quality
        else list(_suite_rows(number, runs))
    )
    if not rows:
        raise NoInput(
            f"nothing for the paper's Table {number}",
            ", ".join(str(run.folder) for run in runs),
            _COMMANDS[number],
        )
    rows += [
        (f"{framework}, as printed", *figures, "")
        for framework, figures in printed(number).items()
    ]
    return Table(
        title=_TITLES[number],
        columns=("Framework", *_COLUMNS[number], "not as in the paper"),
        rows=tuple(rows),
        note=" ".join(
            [_QUALITY_NOTE, *told([(side.label, side.differences) for side in sides])]
        )
        if quality
        else _SUITE_NOTE,
        name=f"paper-table-{number}",
    )


class _QualitySide(NamedTuple):
    """One model and its condition, in one run of suite `quality`."""

    label: str
    #: The row without its last cell.
    cells: tuple[Cell, ...]
    differences: tuple[SetupDifference, ...]


def _quality_sides(runs: Sequence[RecordedRun]) -> Iterator[_QualitySide]:
    for run in runs:
        for name, report in reports(run).items():
            for table in report.tables:
                if table.name != PAPER_FORM:
                    continue
                scored = scored_run(run, name, run.raw_header).by_label
                for row in table.rows:
                    label = str(row[0])
                    unlike = quality_differences(run, label, scored[label][0])
                    yield _QualitySide(label, row, tuple(unlike))


def _suite_rows(number: int, runs: Sequence[RecordedRun]) -> Iterator[tuple[Cell, ...]]:
    for run in runs:
        cases = _cases(run)
        coverage = {label: by_category(outcomes) for label, outcomes in cases.items()}
        led = find_leaders(coverage)
        for label, outcomes in cases.items():
            framework = framework_of(run.header.participant(label))
            failing = failing_categories(outcomes)
            cells: tuple[Cell, ...] = (
                tuple(failing[failure] for failure in _FAILURES)
                if number == 5  # noqa: PLR2004 (its number)
                else (
                    *levels(coverage[label]),
                    len(led[label].highest),
                    len(led[label].single),
                )
            )
            differs = version_difference(label, framework)
            yield (label, *cells, differs.what if differs else "")


def _cases(run: RecordedRun) -> Mapping[str, list[CaseOutcome]]:
    by_engine: dict[str, list[CaseOutcome]] = {}
    for row in run.rows():
        if (row.task, row.config) == (TEST_SUITE, _DRAFT):
            by_engine.setdefault(row.engine, []).append(outcome(row))
    return dict(sorted(by_engine.items()))
