"""Tables of any run: queries on its attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from evaluation.reporting.tables import BRACKETS, NOT_RUN, Cell, Rate, Table
from evaluation.results.headline import (
    ALL,
    headline,
    outcomes_table,
    times_table,
)
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

_COVERAGE_NOTE: Final = (
    "declared: schemas that compile, of all. passed: schemas of which every valid "
    "instance can be written to its end and no invalid one can, of all that have "
    "instances. compliance: the same, of those that have instances and compile. "
    "Only walked instances count. orders accepted: valid instances with their "
    f"members in another order (--set orders=N). {BRACKETS}"
)


def firsts(attempts: pl.DataFrame) -> pl.DataFrame:
    """Return the first attempt of each case."""
    return attempts.unique(
        ["engine", "config", "id"], keep="first", maintain_order=True
    )


def tables(attempts: pl.DataFrame) -> Iterator[Table]:
    """Yield coverage, the headline, the same by config, outcomes, conditions."""
    cases = firsts(attempts)
    lines = headline(cases)
    yield coverage(cases)
    yield outcomes_table(lines.filter(config=ALL), "What became of schemas")
    yield times_table(lines.filter(config=ALL))
    if cases["config"].n_unique() > 1:
        by_config = lines.filter(pl.col("config") != ALL)
        yield outcomes_table(by_config, "What became of schemas, by config")
        yield times_table(by_config)
    yield outcomes(cases)
    yield conditions(cases)


def coverage(cases: pl.DataFrame) -> Table:
    """Return declared coverage, passing and compliance, a line for each engine."""
    rows: list[dict[str, Cell]] = []
    for (engine,), cases_of_engine in cases.group_by("engine", maintain_order=True):
        tested = cases_of_engine.filter(pl.col("passed").is_not_null())
        compiled = tested.filter("compiled")
        valid = _texts(cases_of_engine, "valid_accepted", "valid")
        reordered = _texts(cases_of_engine, "reordered_accepted", "reordered")
        rows.append(
            {
                "engine": str(engine),
                "declared": Rate(
                    int(cases_of_engine["compiled"].sum()), cases_of_engine.height
                ),
                "passed": Rate(int(tested["passed"].sum()), tested.height),
                "compliance": Rate(int(compiled["passed"].sum()), compiled.height),
                "valid accepted": valid,
                "orders accepted": reordered
                if reordered.of or not valid.of
                else NOT_RUN,
                "invalid blocked": _texts(
                    cases_of_engine, "invalid_blocked", "invalid"
                ),
            }
        )
    return Table.of_records("Coverage", rows, _COVERAGE_NOTE).without_empty_columns()


def _texts(cases: pl.DataFrame, good: str, total: str) -> Rate:
    """Return a share of texts; texts of one schema are not independent."""
    return Rate.total(Rate(*pair) for pair in cases.select(good, total).iter_rows())


def outcomes(cases: pl.DataFrame) -> Table:
    """Return how many cases ended how; each case once."""
    schemas = cases.select(pl.struct("config", "id").n_unique()).item()
    occurring = [outcome for outcome in Outcome if outcome in {*cases["outcome"]}]
    rows: list[dict[str, Cell]] = []
    for (engine,), cases_of_engine in cases.group_by("engine", maintain_order=True):
        counts = dict(cases_of_engine["outcome"].value_counts().iter_rows())
        rows.append(
            {
                "engine": str(engine),
                "schemas": cases_of_engine.height,
                **{
                    outcome.replace("_", " "): counts.get(outcome, 0)
                    for outcome in occurring
                },
                "not run": schemas - cases_of_engine.height,
            }
        )
    words = (
        f"{outcome.replace('_', ' ')}: {outcome.explanation}" for outcome in occurring
    )
    note = "; ".join(words) + (
        "; not run: another engine here was asked, this one was not (yet), or the "
        "machine was too busy"
    )
    return Table.of_records("Outcomes", rows, note)


def conditions(cases: pl.DataFrame) -> Table:
    """Return how much memory there was in use, and whether the machine was quiet."""
    lines = cases.group_by("engine", maintain_order=True).agg(
        memory=pl.col("rss_bytes").max() // 2**20,
        quiet=pl.col("quiet").sum(),
        known=pl.col("quiet").count(),
        ended=pl.col("ended_by_wall_clock").sum(),
    )
    return Table.of_records(
        "Conditions",
        (
            {
                "engine": line["engine"],
                "largest memory (MiB)": line["memory"],
                "undisturbed": Rate(line["quiet"], line["known"]),
                "ended by the wall clock": line["ended"],
            }
            for line in lines.iter_rows(named=True)
        ),
        note="memory: resident set of the engine's process when a case was done. "
        "undisturbed: cases during which nothing else was given the engine's core: "
        "where these are few, so are comparable times. ended by the wall clock: "
        "time-outs of cases that had processor time left and waited for something "
        "else than a core.",
    )
