"""Tables of any run of engines: coverage, the headline, outcomes, conditions.

The headline is the outcome of each schema and the time that it took, engine by engine,
over all records and over each config. It is computed from attempts alone
(`evaluation.results.edition.COLUMNS`) by the rule in docs/results.md.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.system.words import counted
from evaluation.reporting.tables import (
    BRACKETS,
    NOT_RUN,
    Cell,
    MissingFigure,
    Rate,
    Table,
    duration,
)
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator


#: The line of all configs.
ALL: Final = "all"
#: Values that a percentile of 99 needs, so that one is expected above it.
_FOR_P99: Final = 100
_OUTCOME: Final = pl.col("outcome")
_LIMITED: Final = _OUTCOME.is_in(["timeout", "out_of_memory"])
_ACCEPTS: Final = _OUTCOME.is_in(["under_constrained", "wrong_both_ways"])
_BLOCKS: Final = _OUTCOME.is_in(["over_constrained", "mask_gap"])
#: An invalid text was accepted, each such text against `format` alone.
_FORMATS: Final = (_OUTCOME == "under_constrained") & pl.col("why").str.split(
    " | "
).list.eval(pl.element().str.contains("^accepted to its end; format(;|$)")).list.all()
#: Each kind of time, and the nanoseconds of one schema.
_TIMES: Final = {
    "compile": pl.col("compile_ns"),
    "first": pl.col("compile_ns") + pl.col("first_mask_ns"),
    "mask": pl.col("between_ns"),
}


def headline(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one line a config and engine, `all` first, the best engines first.

    Of the records that every engine was asked. Columns are named as in
    docs/results.md; times are nanoseconds.

    Args:
        rows: Attempts of one task, one a case, from an edition or a run.
    """
    masks = with_keys(rows)
    engines = pl.col("engine").n_unique()
    masks = masks.filter(engines.over("key") == masks["engine"].n_unique())
    shared, apart = shared_schemas(masks)
    every = pl.concat([masks.with_columns(config=pl.lit(ALL)), masks])
    lines = outcomes(every).join(
        times(every.filter(pl.col("key").is_in(shared))),
        on=["config", "engine"],
        how="left",
    )
    configs = [ALL, *in_benchmark_order({*masks["config"]})]
    best = best_first(lines.filter(config=ALL))
    return lines.with_columns(apart=pl.col("engine").is_in(apart)).sort(
        pl.col("config").replace_strict(configs, range(len(configs)), default=None),
        pl.col("engine").replace_strict(best["engine"], range(len(best)), default=None),
    )


def best_first(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines with the engine that passes most first; by name where two do."""
    return lines.sort("passed", "engine", descending=[True, False])


def with_keys(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with `CONFIG/ID` as their column `key`."""
    return rows.with_columns(key=pl.concat_str("config", "id", separator="/"))


def outcomes(masks: pl.DataFrame) -> pl.DataFrame:
    """Count outcomes, a line for each config and engine."""
    passed = pl.col("passed").fill_null(value=False)
    named = pl.any_horizontal(
        passed, _OUTCOME == "compile_error", _LIMITED, _ACCEPTS, _BLOCKS
    )
    untested = _OUTCOME == "untested"
    right_so_far = (pl.col("wrong") == "") & pl.col("passed").is_not_null()
    return masks.group_by("config", "engine", maintain_order=True).agg(
        asked=pl.len(),
        tested=pl.col("passed").count(),
        passed=passed.sum(),
        without_limits=(passed | _LIMITED & right_so_far).sum(),
        without_formats=(passed | _FORMATS).sum(),
        compiled=pl.col("compiled").sum(),
        refused=(_OUTCOME == "compile_error").sum(),
        accepts_invalid=_ACCEPTS.sum(),
        warned=pl.when((_ACCEPTS & pl.col("warned").is_null()).any())
        .then(None)
        .otherwise((_ACCEPTS & pl.col("warned")).sum()),
        blocks_valid=_BLOCKS.sum(),
        limited=_LIMITED.sum(),
        failed=(~named & ~untested).sum(),
    )


def shared_schemas(masks: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Return the schemas on which times are compared, and the engines shown apart.

    These compile less than half of what all others share, the worst of them first.
    """
    timed = masks.filter("compiled", pl.col("first_mask_ns").is_not_null())
    keys = {
        engine: {*timed.filter(engine=engine)["key"]}
        for engine in sorted({*masks["engine"]})
    }
    apart: list[str] = []
    while len(keys) > 1:
        shares = {}
        for engine, schemas in keys.items():
            common = set.intersection(*(keys[name] for name in keys if name != engine))
            shares[engine] = len(schemas & common) / len(common) if common else 1.0
        worst = min(shares, key=lambda engine: shares[engine])
        if shares[worst] >= 1 / 2:
            break
        apart.append(worst)
        del keys[worst]
    return sorted(set.intersection(*keys.values())) if keys else [], apart


def times(shared: pl.DataFrame) -> pl.DataFrame:
    """Return median, mean and p99 of each kind of time, for each config and engine.

    The mean of masks is over all of them, median and p99 are of the schemas' means.
    """
    timed = shared.filter("compiled", pl.col("first_mask_ns").is_not_null())
    tokens = pl.col("tokens")
    figures = {}
    for name, ns in _TIMES.items():
        figures[f"{name}_median"] = ns.median()
        figures[f"{name}_mean"] = ns.mean()
        figures[f"{name}_p99"] = pl.when(pl.len() >= _FOR_P99).then(
            ns.quantile(0.99, interpolation="linear")
        )
    masks_ns = (pl.col("between_ns") * tokens).sum()
    figures["mask_mean"] = masks_ns / pl.when(tokens.sum() > 0).then(tokens.sum())
    return timed.group_by("config", "engine").agg(
        schemas=pl.len(), cut_off=(_OUTCOME == "timeout").sum(), **figures
    )


_OUTCOMES_NOTE: Final = (
    "passes: every valid text can be written, no invalid one. without limits: also "
    "where a limit of time or memory ended a schema, and no text was wrong so far. "
    "without formats: also where each wrong text violates format alone. Gaps that the "
    "engine declares: refused, and warned of the keyword before it accepts an invalid "
    "text. accepts invalid: those included. blocks valid: no invalid text is accepted. "
    "over a limit: of time or memory. failed: crashes and errors of the engine. "
    "Brackets: Wilson's 95 % interval."
)
_TIMES_NOTE: Final = (
    "compile: the compile call. first: that, and making a matcher and its first mask. "
    "mask: a mask and the commit of its token; mean: of all masks; median and p99: of "
    "the schemas' means. cut off: schemas of these whose walk a deadline ended; their "
    "masks so far count. A compile that was cut off is in the table of outcomes alone."
)


def outcomes_table(lines: pl.DataFrame, title: str) -> Table:
    """Return what became of schemas, a row for each line of `headline`."""
    return Table.of_records(
        title,
        (
            {
                **_names(line),
                "passes": Rate(line["passed"], line["tested"]),
                "without limits": Rate(line["without_limits"], line["tested"]),
                "without formats": Rate(line["without_formats"], line["tested"]),
                "compiles": Rate(line["compiled"], line["asked"]),
                "refused": line["refused"],
                "accepts invalid": line["accepts_invalid"],
                "warned": MissingFigure("not measured")
                if line["warned"] is None
                else line["warned"],
                "blocks valid": line["blocks_valid"],
                "over a limit": line["limited"],
                "failed": line["failed"],
            }
            for line in lines.iter_rows(named=True)
        ),
        _OUTCOMES_NOTE,
        _named("headline", lines),
    ).without_empty_columns("config", "passes", "without limits", "without formats")


def times_table(lines: pl.DataFrame) -> Table:
    """Return times, a row for each kind and line of `headline`; none without any.

    Engines apart come last.
    """
    counts = [0, *lines.filter(~pl.col("apart"))["schemas"].drop_nulls()]
    apart = dict.fromkeys(lines.filter("apart")["engine"])
    few = f" Compiles less than half of what the others share: {', '.join(apart)}."
    ordered = sorted(lines.iter_rows(named=True), key=itemgetter("apart"))
    rows: list[dict[str, Cell]] = []
    for name in _TIMES if lines["schemas"].count() else ():
        for line in ordered:
            figures = {
                figure: duration(line[f"{name}_{figure}"])
                for figure in ("median", "mean", "p99")
            }
            cut = line["cut_off"] if name == "mask" else None
            ends = {"schemas": line["schemas"] or 0, **figures, "cut off": cut}
            rows.append({"time": name, **_names(line), **ends})
    return Table.of_records(
        f"Times, of the {counted(max(counts), 'schema')} that all compile",
        rows,
        _TIMES_NOTE + (few if apart else ""),
        _named("times", lines),
    ).without_empty_columns("config")


def _named(name: str, lines: pl.DataFrame) -> str:
    """Return the name of a table for programs, by whether its lines are of configs."""
    return name if {*lines["config"]} <= {ALL} else f"{name}-by-config"


def _names(line: dict[str, str]) -> dict[str, Cell]:
    config = None if line["config"] == ALL else line["config"]
    return {"config": config, "engine": line["engine"]}


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
    yield outcome_counts(cases)
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


def outcome_counts(cases: pl.DataFrame) -> Table:
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
