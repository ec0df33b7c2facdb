"""Outcomes and tables of task `test-suite`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.core.documents import Explained
from curation.download.pins import load_pins
from curation.system.package_data import raw_folder
from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict
from evaluation.reporting.charts import heat_map, label
from evaluation.reporting.report import Plot, Report
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Table
from evaluation.results.outcomes import FAULTS, engine_is_right, number_in
from evaluation.tasks.official_suite import NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluation.core.task import RunRows


class SuiteFailure(Explained):
    """Why a case is not passed."""

    COMPILE_ERROR = (
        "compile_error",
        "the schema was refused, though there is a valid instance",
    )
    OVER_CONSTRAINED = ("over_constrained", "a valid instance cannot be generated")
    UNDER_CONSTRAINED = ("under_constrained", "an invalid instance can be generated")
    DIED = ("died", "a time-out, a crash, or no answer: not all was walked")
    ENGINE_ERROR = ("engine_error", "the engine failed while an instance was walked")
    LIED = ("lied", "mask and commit disagree about a token")
    CONTRADICTED = ("contradicted", "two answers after the same tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """One engine on one case."""

    category: str
    failures: frozenset[SuiteFailure]
    #: Valid instances that were accepted, of those that were walked.
    valid: Rate
    #: Invalid instances that were blocked, of those that were walked.
    invalid: Rate

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def outcome(row: Row) -> CaseOutcome:
    """Judge one row of the task `test-suite`."""
    walked = [walk for walk in row.walks if walk.verdict is not WalkVerdict.NOT_RUN]
    return CaseOutcome(
        category=str(row.label.get("category")),
        failures=frozenset(_failures(row, walked)),
        valid=_rate(walked, valid=True),
        invalid=_rate(walked, valid=False),
    )


def _failures(row: Row, walked: list[InstanceResult]) -> Iterable[SuiteFailure]:
    valid = sum(walk.valid for walk in row.walks)
    wanted_valid = number_in(row, "valid", valid)
    expected = number_in(row, "tests", len(row.walks))
    if row.result is Result.COMPILE_ERROR:
        return {SuiteFailure.COMPILE_ERROR} if wanted_valid else set()
    failures = {_WRONG[walk.valid] for walk in walked if engine_is_right(walk) is False}
    failures |= {
        SuiteFailure(walk.verdict.value) for walk in walked if walk.verdict in FAULTS
    }
    ended = row.result in {Result.OK, Result.ENGINE_ERROR}
    if not ended or len(walked) < expected:
        failures.add(SuiteFailure.DIED)
    return failures


_WRONG: Final = {
    True: SuiteFailure.OVER_CONSTRAINED,
    False: SuiteFailure.UNDER_CONSTRAINED,
}


def _rate(walked: list[InstanceResult], *, valid: bool) -> Rate:
    verdicts = [engine_is_right(walk) for walk in walked if walk.valid is valid]
    return Rate(verdicts.count(True), len(verdicts))


def by_category(outcomes: Iterable[CaseOutcome]) -> Mapping[str, Rate]:
    """Return the share of passed cases of each category, in alphabetical order."""
    categories: dict[str, list[bool]] = defaultdict(list)
    for case in outcomes:
        categories[case.category].append(case.passed)
    return {
        name: Rate(sum(categories[name]), len(categories[name]))
        for name in sorted(categories)
    }


def failing_categories(outcomes: Iterable[CaseOutcome]) -> Mapping[SuiteFailure, int]:
    """Count for each kind of failure the categories in which it occurs (Table 5)."""
    categories: dict[SuiteFailure, set[str]] = {
        failure: set() for failure in SuiteFailure
    }
    for case in outcomes:
        for failure in case.failures:
            categories[failure].add(case.category)
    return {failure: len(names) for failure, names in categories.items()}


#: Table 6: a level's name, and whether a share reaches it.
LEVELS: Final = {
    "> 0 %": lambda share: share > 0,
    "> 25 %": lambda share: share > 1 / 4,
    "> 50 %": lambda share: share > 1 / 2,
    "> 75 %": lambda share: share > 3 / 4,
    "100 %": lambda share: share == 1,
}


def levels(coverage: Mapping[str, Rate]) -> tuple[int, ...]:
    """Count the categories that reach each level of coverage (Table 6)."""
    shares = [rate.share for rate in coverage.values() if rate.share is not None]
    return tuple(sum(map(reaches, shares)) for reaches in LEVELS.values())


@dataclass(frozen=True, slots=True)
class Leaders:
    """In which categories an engine's coverage is the highest above 0."""

    #: Alone or with others, as the paper counts "tied".
    highest: frozenset[str]
    #: Alone.
    single: frozenset[str]


def find_leaders(coverage: Mapping[str, Mapping[str, Rate]]) -> Mapping[str, Leaders]:
    """Return for each engine where it leads; takes engine to category to coverage."""
    best: dict[str, float] = defaultdict(float)
    holders: dict[str, list[str]] = defaultdict(list)
    for engine, categories in coverage.items():
        for name, rate in categories.items():
            share = rate.share or 0.0
            if share > best[name]:
                best[name], holders[name] = share, [engine]
            elif share == best[name] > 0:
                holders[name].append(engine)
    return {
        engine: Leaders(
            frozenset(name for name, who in holders.items() if engine in who),
            frozenset(name for name, who in holders.items() if who == [engine]),
        )
        for engine in coverage
    }


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
    cases: dict[str, dict[str, list[CaseOutcome]]] = {}
    suites: dict[str, None] = {}
    for row in run.rows(NAME):
        engines = cases.setdefault(row.config, {})
        engines.setdefault(row.engine, []).append(outcome(row))
        suites[str(row.label.get("suite"))] = None
    tables: list[Table] = []
    maps: list[Plot] = []
    for config in sorted(cases, reverse=True):
        engines = {name: cases[config][name] for name in sorted(cases[config])}
        coverage = {name: by_category(outcomes) for name, outcomes in engines.items()}
        tables += [
            _cases(config, engines, ", ".join(suites)),
            _failing(config, engines, coverage),
            _levels(config, coverage),
            _category_table(config, coverage),
        ]
        maps.append(_heat_map(config, coverage))
    return Report(tables=tuple(tables), plots=tuple(maps))


def published_suite() -> str:
    """Return the archive and commit of the published figures: the first pin."""
    pin = next(iter(load_pins(raw_folder() / "test_suite.toml").values()))
    return f"{pin.name}@{pin.commit}"


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
    published = published_suite()
    another = suite != published
    note = f" Another suite than the published figures', {published}: cases differ."
    return Table(
        title=f"JSON Schema Test Suite, {config}: cases and instances",
        columns=("engine", "cases passed", "valid accepted", "invalid blocked"),
        rows=tuple(rows),
        note=f"{_CASES_NOTE} Suite: {suite}.{another * note}",
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


def _heat_map(config: str, coverage: Mapping[str, Mapping[str, Rate]]) -> Plot:
    cells = {
        category: {
            engine: rates[category].share if category in rates else None
            for engine, rates in coverage.items()
        }
        for category in _categories(coverage)
    }
    return heat_map(
        f"suite-{config}",
        f"JSON Schema Test Suite, {label(config)}: share of cases passed",
        cells,
    )


def _categories(coverage: Mapping[str, Mapping[str, Rate]]) -> list[str]:
    return sorted({name for rates in coverage.values() for name in rates})
