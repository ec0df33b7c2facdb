"""Tables of any run: outcomes and times of cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.benchmark import in_benchmark_order
from curation.system.words import counted
from evaluation.reporting.charts import stack, survival
from evaluation.reporting.notes import BRACKETS, CLUSTERS
from evaluation.reporting.quantiles import PERCENTILES, Quantiles
from evaluation.reporting.report import Plot, Report
from evaluation.reporting.tables import (
    NOT_RUN,
    Cell,
    ClusterRate,
    Rate,
    Table,
    duration,
    quantile_cell,
)
from evaluation.results.measurements import (
    CaseMeasurement,
    between_masks,
    by_schema,
    compiled_by_all,
    first_mask,
    measure_run,
    to_first_mask,
)
from evaluation.results.noise import noise_table
from evaluation.results.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.core.task import RunRows

#: Green passes, grey was not asked or refused, warm colours are wrong, dark ones died.
_COLOURS = {
    Outcome.PASSED: "#009E73",
    Outcome.UNTESTED: "#E5E5E5",
    Outcome.COMPILE_ERROR: "#B3B3B3",
    Outcome.OVER_CONSTRAINED: "#F0E442",
    Outcome.MASK_GAP: "#F7F0A0",
    Outcome.UNDER_CONSTRAINED: "#E69F00",
    Outcome.WRONG_BOTH_WAYS: "#D55E00",
    Outcome.NOT_COMPLIANT: "#F0B088",
    Outcome.LIED: "#CC79A7",
    Outcome.CONTRADICTED: "#E39ECB",
    Outcome.ENGINE_ERROR: "#56B4E9",
    Outcome.ERROR: "#A6D8F0",
    Outcome.TOO_MUCH_OUTPUT: "#7A9CB8",
    Outcome.PROTOCOL_ERROR: "#8FD0F0",
    Outcome.TIMEOUT: "#0072B2",
    Outcome.OUT_OF_MEMORY: "#5B2C6F",
    Outcome.CRASH: "#000000",
}
_COVERAGE_NOTE = (
    "declared: schemas that compile, of all. passed: schemas of which every valid "
    "instance can be written to its end and no invalid one can, of all that have "
    "instances. compliance: the same, of those that have instances and compile. "
    "Instances are those that were walked. orders accepted: valid instances with their "
    f"members in another order (--set orders=N). {CLUSTERS} {BRACKETS}"
)
_FIRST_NOTE = (
    "The compile call alone, without waiting for a core. A schema that was cut off by "
    "the deadline counts as at least that; one that was refused, or on which the "
    "engine died, has no time."
)
_BETWEEN_NOTE = (
    "Each token's mask and commit, all texts of all schemas together but near misses "
    "of length bounds, which are as long as the bound."
)
_BY_SCHEMA_NOTE = (
    "The mean of each schema's masks and commits: each schema counts once, however "
    "long its texts are."
)
_ALL_COMPILE = "Of the schemas that every engine here compiles: one that takes only "
_ALL_COMPILE += "easy ones looks no faster for it."


def overview(run: RunRows, task: str) -> Report:
    """Return the tables and plots of one task of a run."""
    cases_by_engine = measure_run(run, task)
    return Report(
        tables=tuple(tables(cases_by_engine)), plots=tuple(plots(cases_by_engine, task))
    )


def tables(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Iterable[Table]:
    """Yield coverage, outcomes, times, coverage by config, conditions."""
    yield coverage(cases_by_engine)
    yield outcomes(cases_by_engine)
    yield from latency(cases_by_engine)
    configs = in_benchmark_order(
        {case.config for cases in cases_by_engine.values() for case in cases}
    )
    if len(configs) > 1:
        yield coverage_by_config(cases_by_engine, configs)
    yield conditions(cases_by_engine)
    everything = [case for cases in cases_by_engine.values() for case in cases]
    if any(len(case.repetitions) > 1 for case in everything):
        yield noise_table(cases_by_engine)


def coverage(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Table:
    """Return declared coverage, passing and compliance, a line for each engine."""
    return Table.of_records(
        "Coverage",
        ({"engine": name, **_coverage(own)} for name, own in cases_by_engine.items()),
        _COVERAGE_NOTE,
    ).without_empty_columns()


def _passed(cases: Iterable[CaseMeasurement]) -> Rate:
    tested = [case.passed for case in cases if case.has_instances]
    return Rate(sum(tested), len(tested))


def _coverage(cases: Sequence[CaseMeasurement]) -> dict[str, Cell]:
    valid = Rate.total(case.valid for case in cases)
    reordered = Rate.total(case.reordered for case in cases)
    return {
        **_compliance(cases),
        "valid accepted": valid,
        "orders accepted": reordered if reordered.of or not valid.of else NOT_RUN,
        "invalid blocked": Rate.total(case.invalid for case in cases),
    }


def _compliance(cases: Sequence[CaseMeasurement]) -> dict[str, Cell]:
    tested = [case for case in cases if case.has_instances]
    compiled = [case for case in tested if case.compiled]
    return {
        "declared": Rate(sum(case.compiled for case in cases), len(cases)),
        "passed": _passed(tested),
        "compliance": Rate(sum(case.passed for case in compiled), len(compiled)),
        "declared by cluster": ClusterRate.of_answers(
            (case.case_key, case.compiled, case.weight) for case in cases
        ),
        "passed by cluster": ClusterRate.of_answers(
            (case.case_key, case.passed, case.weight) for case in tested
        ),
    }


def coverage_by_config(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]], configs: Iterable[str]
) -> Table:
    """Return what compiles and what passes, a line for each config and engine."""
    rows: list[dict[str, Cell]] = []
    for config in configs:
        for name, cases in cases_by_engine.items():
            own = [case for case in cases if case.config == config]
            if own:
                rows.append({"config": config, "engine": name, **_compliance(own)})
    table = Table.of_records("Coverage by config", rows, "")
    return table.without_empty_columns()


def outcomes(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Table:
    """Return how many cases ended how; each case once."""
    counted = _counted(cases_by_engine)
    occurring = [
        outcome
        for outcome in Outcome
        if any(counts[outcome] for counts in counted.values())
    ]
    schemas = len(
        {case.case_key for cases in cases_by_engine.values() for case in cases}
    )
    return Table.of_records(
        "Outcomes",
        (
            {
                "engine": name,
                "schemas": counts.total(),
                **{one.replace("_", " "): counts[one] for one in occurring},
                "not run": schemas - counts.total(),
            }
            for name, counts in counted.items()
        ),
        note="; ".join(
            f"{outcome.replace('_', ' ')}: {outcome.explanation}"
            for outcome in occurring
        )
        + "; not run: another engine here was asked, this one was not (yet), or the "
        "machine was too busy to tell",
    )


def _counted(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> dict[str, Counter[Outcome]]:
    return {
        name: Counter(case.outcome for case in cases)
        for name, cases in cases_by_engine.items()
    }


def comparable(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> tuple[str, Mapping[str, Sequence[CaseMeasurement]]]:
    """Return the cases whose times can be compared, and what titles say of them.

    Of several engines these are the schemas that all compile.
    """
    if len(cases_by_engine) < 2:  # noqa: PLR2004 (two to compare)
        return "", cases_by_engine
    count, shared = compiled_by_all(cases_by_engine)
    return f", the {counted(count, 'schema')} that all compile", shared


def latency(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]],
) -> Iterable[Table]:
    """Yield a table of quantiles for each kind of time, on what all compile."""
    suffix, cases_by_engine = comparable(cases_by_engine)
    kinds: tuple[
        tuple[str, str, str, Callable[[Iterable[CaseMeasurement]], Quantiles]], ...
    ] = (
        ("Time to first mask", "schemas", _FIRST_NOTE, to_first_mask),
        ("Time between masks by schema", "schemas", _BY_SCHEMA_NOTE, by_schema),
        ("Time between masks", "masks", _BETWEEN_NOTE, between_masks),
        ("First mask after compile", "schemas", "", first_mask),
    )
    for title, what, meaning, times in kinds:
        quantiles_by_engine = {
            name: times(cases) for name, cases in cases_by_engine.items()
        }
        if any(map(len, quantiles_by_engine.values())):
            text = " ".join(filter(None, (meaning, suffix and _ALL_COMPILE)))
            table = quantiles(title + suffix, quantiles_by_engine, what, text)
            yield replace(table, name=title)


def quantiles(
    title: str, times_by_engine: Mapping[str, Quantiles], what: str, note: str = ""
) -> Table:
    """Return a table of the quantiles of times in nanoseconds, and their mean."""
    percents = [
        percent
        for percent in PERCENTILES
        if any(
            _has_values_for(percent, len(times)) for times in times_by_engine.values()
        )
    ]
    is_cut = any(times.cut_off for times in times_by_engine.values())
    rows: list[dict[str, Cell]] = []
    for name, times in times_by_engine.items():
        row: dict[str, Cell] = {"engine": name, what: len(times)}
        if is_cut:
            row["cut off"] = times.cut_off
        for percent in percents:
            known = _has_values_for(percent, len(times))
            column = "max" if percent == 100 else f"p{percent:g}"  # noqa: PLR2004 (per cent)
            row[column] = quantile_cell(times, percent) if known else None
        row["mean"] = duration(times.mean, at_least=times.first_bound is not None)
        rows.append(row)
    return Table.of_records(title, rows, note)


def _has_values_for(percent: float, count: int) -> bool:
    """Return whether at least one value is expected beyond a percentile.

    p99.9 needs a thousand values, p75 four; median and maximum need one.
    """
    beyond = min(percent, 100 - percent)
    return percent in {50.0, 100.0} or count * beyond >= 100  # noqa: PLR2004 (per cent)


def conditions(cases_by_engine: Mapping[str, Sequence[CaseMeasurement]]) -> Table:
    """Return how much memory there was in use, and whether the machine was quiet."""
    return Table.of_records(
        "Conditions",
        ({"engine": name, **_conditions(own)} for name, own in cases_by_engine.items()),
        note="memory: resident set of the engine's process when a case was done. "
        "undisturbed: cases during which nothing else was given the engine's core: "
        "where these are few, so are comparable times. ended by the wall clock: "
        "time-outs of cases that had processor time left and waited for something "
        "else than a core.",
    )


def _conditions(cases: Sequence[CaseMeasurement]) -> dict[str, Cell]:
    most = max((case.rss_bytes for case in cases if case.rss_bytes), default=None)
    quiet = [case.quiet for case in cases if case.quiet is not None]
    return {
        "largest memory (MiB)": None if most is None else most >> 20,
        "undisturbed": Rate(sum(quiet), len(quiet)),
        "ended by the wall clock": sum(case.ended_by_wall_clock for case in cases),
    }


def plots(
    cases_by_engine: Mapping[str, Sequence[CaseMeasurement]], task: str
) -> Iterable[Plot]:
    """Yield the outcomes and the two kinds of time."""
    yield stack(
        f"{task}-outcomes",
        "Outcomes",
        {
            name: {outcome.replace("_", " "): counts[outcome] for outcome in Outcome}
            for name, counts in _counted(cases_by_engine).items()
        },
        x_label="schemas",
        colours={
            outcome.replace("_", " "): colour for outcome, colour in _COLOURS.items()
        },
    )
    kinds = (
        ("time-to-first-mask", "Time to first mask", to_first_mask),
        ("time-between-masks", "Time between masks", between_masks),
    )
    suffix, shared = comparable(cases_by_engine)
    for slug, title, times in kinds:
        times_by_engine = {name: times(cases) for name, cases in shared.items()}
        if any(map(len, times_by_engine.values())):
            yield survival(f"{task}-{slug}", title + suffix, times_by_engine)
