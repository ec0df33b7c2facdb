"""Reports of the task `test-suite`: the paper's Tables 5 and 6, and its Figure 6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.reporting.report import Report
from evaluation.reporting.share_charts import heat_map
from evaluation.reporting.tables import NOT_RUN, Rate, Table
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.outcomes import (
    LEVELS,
    SuiteFailure,
    by_category,
    failing_categories,
    find_leaders,
    levels,
    outcome,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluation.core.task import RunRows
    from evaluation.reporting.report import Plot
    from evaluation.reporting.tables import Cell
    from evaluation.tasks.official_suite.outcomes import CaseOutcome

_FAILURES_NOTE: Final = (
    "Categories in which a failure of the kind occurs at least once; a category may "
    "have several kinds. Died: a time-out, a crash or no answer. Lied: mask and commit "
    "disagree about a token."
)
_LEVELS_NOTE: Final = (
    "Categories by the share of their cases that are passed. A case is passed if every "
    "valid instance can be generated to its end and no invalid one can; a compile "
    "error passes only a case without valid instances. Highest: no engine here is "
    "better, and the share is above 0."
)
_MAP_NOTE: Final = "* the highest share (above 0), tied; ** the single highest."
_CASES_NOTE: Final = "Instances are those of cases that compiled and were walked."


def report(run: RunRows) -> Report:
    """Return the tables of each draft, mandatory and optional tests apart."""
    found: dict[str, dict[str, list[CaseOutcome]]] = {}
    suites: dict[str, None] = {}
    for row in run.rows():
        if row.task == NAME:
            engines = found.setdefault(row.config, {})
            engines.setdefault(row.engine, []).append(outcome(row))
            suites[str(row.label.get("suite"))] = None
    tables: list[Table] = []
    maps: list[Plot] = []
    for config in sorted(found, reverse=True):
        engines = {name: found[config][name] for name in sorted(found[config])}
        tables += _tables(config, engines, ", ".join(suites))
        maps.append(_heat_map(config, engines))
    return Report(tables=tuple(tables), plots=tuple(maps))


def _tables(
    config: str, engines: Mapping[str, list[CaseOutcome]], suite: str
) -> Iterator[Table]:
    coverage = {name: by_category(cases) for name, cases in engines.items()}
    yield _cases(config, engines, suite)
    yield _failing(config, engines, coverage)
    yield _levels(config, coverage)
    yield _category_table(config, coverage)


def _cases(config: str, engines: Mapping[str, list[CaseOutcome]], suite: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            Rate(sum(case.passed for case in outcomes), len(outcomes)),
            Rate.total(case.valid for case in outcomes),
            Rate.total(case.invalid for case in outcomes),
        )
        for name, outcomes in engines.items()
    ]
    return Table(
        title=f"JSON Schema Test Suite, {config}: cases and instances",
        columns=("engine", "cases passed", "valid accepted", "invalid blocked"),
        rows=tuple(rows),
        note=f"{_CASES_NOTE} Suite: {suite}.",
        name=f"suite {config} cases",
    )


def _failing(
    config: str,
    engines: Mapping[str, list[CaseOutcome]],
    coverage: Mapping[str, Mapping[str, Rate]],
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, len(coverage[name]), *failing_categories(outcomes).values())
        for name, outcomes in engines.items()
    ]
    kinds = (str(failure).replace("_", " ") for failure in SuiteFailure)
    return Table(
        title=f"JSON Schema Test Suite, {config}: categories with failures (Table 5)",
        columns=("engine", "categories", *kinds),
        rows=tuple(rows),
        note=_FAILURES_NOTE,
        name=f"suite {config} failures",
    )


def _levels(config: str, coverage: Mapping[str, Mapping[str, Rate]]) -> Table:
    led = find_leaders(coverage)
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            len(rates),
            *levels(rates),
            len(led[name].highest),
            len(led[name].single),
        )
        for name, rates in coverage.items()
    ]
    return Table(
        title=f"JSON Schema Test Suite, {config}: categories by coverage (Table 6)",
        columns=("engine", "categories", *LEVELS, "highest", "single highest"),
        rows=tuple(rows),
        note=_LEVELS_NOTE,
        name=f"suite {config} coverage",
    )


def _category_table(config: str, coverage: Mapping[str, Mapping[str, Rate]]) -> Table:
    led = find_leaders(coverage)

    def cell(engine: str, category: str) -> Cell:
        rate = coverage[engine].get(category)
        if rate is None or rate.share is None:
            return NOT_RUN
        mark = "**" if category in led[engine].single else "*"
        star = mark if category in led[engine].highest else ""
        return f"{100 * rate.share:.0f} % ({rate.count} of {rate.of}){star}"

    several = len(coverage) > 1
    return Table(
        title=f"JSON Schema Test Suite, {config}: coverage by category (Figure 6)",
        columns=("category", *coverage),
        rows=tuple(
            (name, *(cell(engine, name) for engine in coverage))
            if several
            else (name, *(rates.get(name) for rates in coverage.values()))
            for name in _categories(coverage)
        ),
        note=_MAP_NOTE if several else "",
        name=f"suite {config} categories",
    )


def _heat_map(config: str, engines: Mapping[str, list[CaseOutcome]]) -> Plot:
    """Return Figure 6: the share of passed cases by category and engine."""
    coverage = {name: by_category(cases) for name, cases in engines.items()}
    cells = {
        category: {
            engine: rates[category].share if category in rates else None
            for engine, rates in coverage.items()
        }
        for category in _categories(coverage)
    }
    return heat_map(
        f"suite-{config.replace(' ', '-')}",
        f"JSON Schema Test Suite, {config}: share of cases passed",
        cells,
    )


def _categories(coverage: Mapping[str, Mapping[str, Rate]]) -> list[str]:
    return sorted({name for rates in coverage.values() for name in rates})
