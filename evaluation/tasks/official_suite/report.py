"""Tables of task `test-suite`: queries on its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from curation.download.pins import load_pins
from curation.system.user_files import raw_folder
from evaluation.core.cases import WalkVerdict
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Table
from evaluation.results.outcomes import engine_is_right
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.outcomes import SuiteFailure, list_failures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.task import RunRows

#: The columns of the table of cases; only walked instances count.
_CASES: Final[dict[str, Any]] = {
    "engine": pl.String,
    "config": pl.String,
    "suite": pl.String,
    "category": pl.String,
    "failures": pl.List(pl.String),
    "valid": pl.Int64,
    "valid_accepted": pl.Int64,
    "invalid": pl.Int64,
    "invalid_blocked": pl.Int64,
}
_SHARE: Final = pl.col("passed") / pl.col("of")
#: Table 6: a level's name, and whether the share of a category reaches it.
LEVELS: Final = {
    "> 0 %": _SHARE > 0,
    "> 25 %": _SHARE > 1 / 4,
    "> 50 %": _SHARE > 1 / 2,
    "> 75 %": _SHARE > 3 / 4,
    "100 %": _SHARE == 1,
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


def suite_cases(run: RunRows) -> pl.DataFrame:
    """Return the cases of a run, a line for each engine and case."""
    lines = []
    for row in run.rows(NAME):
        walked = [walk for walk in row.walks if walk.verdict is not WalkVerdict.NOT_RUN]
        right = [walk.valid for walk in walked if engine_is_right(walk)]
        valid = sum(walk.valid for walk in walked)
        lines.append(
            {
                "engine": row.engine,
                "config": row.config,
                "suite": str(row.label.get("suite")),
                "category": str(row.label.get("category")),
                "failures": sorted(list_failures(row)),
                "valid": valid,
                "valid_accepted": right.count(True),
                "invalid": len(walked) - valid,
                "invalid_blocked": right.count(False),
            }
        )
    return pl.DataFrame(lines, schema=_CASES)


def categories(cases: pl.DataFrame) -> pl.DataFrame:
    """Return the passed cases of each engine and category, and where it leads.

    `highest`: no engine is better, and the share is above 0; `single`: all others are
    worse.
    """
    passed = pl.col("failures").list.len() == 0
    lines = cases.group_by("engine", "category").agg(passed=passed.sum(), of=pl.len())
    best = _SHARE.max().over("category")
    highest = (_SHARE > 0) & (best == _SHARE)
    return lines.sort("engine", "category").with_columns(
        highest=highest, single=highest & (highest.sum().over("category") == 1)
    )


def summary(cases: pl.DataFrame) -> pl.DataFrame:
    """Return one line an engine: Table 6 of its categories, then Table 5."""
    reached = (
        categories(cases)
        .group_by("engine", maintain_order=True)
        .agg(
            pl.len().alias("categories"),
            *(reaches.sum().alias(name) for name, reaches in LEVELS.items()),
            pl.col("highest", "single").sum(),
        )
    )
    failing = cases.group_by("engine").agg(
        pl.col("category")
        .filter(pl.col("failures").list.contains(failure.value))
        .n_unique()
        .alias(failure.value)
        for failure in SuiteFailure
    )
    return reached.join(failing, on="engine", maintain_order="left")


def tables(run: RunRows) -> Iterator[Table]:
    """Yield the paper's tables of each draft, mandatory and optional tests apart."""
    cases = suite_cases(run)
    suites = ", ".join(cases["suite"].unique(maintain_order=True))
    for config in sorted({*cases["config"]}, reverse=True):
        cases_of_config = cases.filter(config=config)
        engines = summary(cases_of_config)
        title = f"JSON Schema Test Suite, {config}"
        name = f"suite {config}"
        columns = ["engine", "categories", *(failure.value for failure in SuiteFailure)]
        levels = ["engine", "categories", *LEVELS, "highest", "single"]
        yield _cases(cases_of_config, title, name, suites)
        yield Table(
            title=f"{title}: categories with failures (Table 5)",
            columns=tuple(column.replace("_", " ") for column in columns),
            rows=tuple(engines.select(columns).iter_rows()),
            note=_FAILURES_NOTE,
            name=f"{name} failures",
        )
        yield Table(
            title=f"{title}: categories by coverage (Table 6)",
            columns=(*levels[:-1], "single highest"),
            rows=tuple(engines.select(levels).iter_rows()),
            note=_LEVELS_NOTE,
            name=f"{name} coverage",
        )
        yield _category_table(cases_of_config, title, name)


def published_suite() -> str:
    """Return the archive and commit of the published figures: the first pin."""
    pin = next(iter(load_pins(raw_folder() / "test_suite.toml").values()))
    return f"{pin.name}@{pin.commit}"


def _cases(cases: pl.DataFrame, title: str, name: str, suite: str) -> Table:
    def texts(cases: pl.DataFrame, *columns: str) -> Rate:
        return Rate.total(Rate(*pair) for pair in cases.select(columns).iter_rows())

    published = published_suite()
    note = f"{_CASES_NOTE} Suite: {suite}."
    if suite != published:
        note += (
            f" Another suite than the published figures', {published}: cases differ."
        )
    return Table.of_records(
        f"{title}: cases and instances",
        (
            {
                "engine": str(engine),
                "cases passed": Rate(
                    cases_of_engine.filter(pl.col("failures").list.len() == 0).height,
                    cases_of_engine.height,
                ),
                "valid accepted": texts(cases_of_engine, "valid_accepted", "valid"),
                "invalid blocked": texts(cases_of_engine, "invalid_blocked", "invalid"),
            }
            for (engine,), cases_of_engine in cases.sort(
                "engine", maintain_order=True
            ).group_by("engine", maintain_order=True)
        ),
        note=note,
        name=f"{name} cases",
    )


def _category_table(cases: pl.DataFrame, title: str, name: str) -> Table:
    engines = sorted({*cases["engine"]})
    lines: dict[str, dict[str, Cell]] = {}
    for line in categories(cases).sort("category").iter_rows(named=True):
        rate = Rate(line["passed"], line["of"])
        stars = "*" * (line["highest"] + line["single"])
        share = f"{100 * line['passed'] / line['of']:.0f} %"
        text = f"{share} ({rate.count} of {rate.of}){stars}"
        by_engine = lines.setdefault(line["category"], {"category": line["category"]})
        by_engine[line["engine"]] = text if len(engines) > 1 else rate
    return Table(
        title=f"{title}: coverage by category (Figure 6)",
        columns=("category", *engines),
        rows=tuple(
            (category, *(line.get(engine, NOT_RUN) for engine in engines))
            for category, line in lines.items()
        ),
        note=_MAP_NOTE if len(engines) > 1 else "",
        name=f"{name} categories",
    )
