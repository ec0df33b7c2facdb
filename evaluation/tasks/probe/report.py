"""Reports of the task `probe`: the matrix of Figure 4, declared and proven.

Beside each engine stands its documented support. If the run has schemas too, their
features give the theoretical coverage of Table 11, by documents and by probes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evaluation.reporting.charts import heat_map
from evaluation.reporting.report import Report
from evaluation.reporting.tables import NOT_RUN, Rate, Table
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import (
    GOOD,
    ProbeOutcome,
    ProbeResult,
    Support,
    declarations,
    features,
    judge_probe,
    proven,
)
from evaluation.tasks.probe.probe import CONTEXTS
from evaluation.tasks.probe.theoretical_coverage import theoretical_coverages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.task import RunRows
    from evaluation.reporting.report import Plot
    from evaluation.reporting.tables import Cell
    from evaluation.tasks.probe.outcomes import Declaration

_OUTCOME_NOTE: Final = "; ".join(
    f"{outcome}: {outcome.explanation}" for outcome in ProbeOutcome
)
_FIGURE_NOTE: Final = (
    "Documents: what is declared; unknown where they are silent. Probes: as specified "
    "in all ways and contexts (yes), in some (partly), in none (no), and how many."
)


def report(run: RunRows) -> Report:
    """Return outcomes, what is declared and what is proven, and every matrix."""
    by_engine: dict[str, list[ProbeResult]] = {}
    for row in run.rows():
        if row.task == NAME:
            own = run.header.participant(row.engine).refusals
            by_engine.setdefault(row.engine, []).append(judge_probe(row, own))
    names = run.header.names()
    tables = [_outcomes(by_engine), _features(by_engine, names), _figure()]
    tables += theoretical_coverages(run, by_engine, names)
    tables += [_matrix(engine, results) for engine, results in by_engine.items()]
    return Report(tables=tuple(tables), plots=(_heat_map(by_engine),))


def _outcomes(by_engine: Mapping[str, Sequence[ProbeResult]]) -> Table:
    counts = {
        name: Counter(e.outcome for e in results) for name, results in by_engine.items()
    }
    occurring = [
        outcome for outcome in ProbeOutcome if any(c[outcome] for c in counts.values())
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            Rate(sum(counted[good] for good in GOOD), counted.total()),
            *(counted[outcome] for outcome in occurring),
        )
        for name, counted in counts.items()
    ]
    return Table(
        title="Probes: outcomes",
        columns=("engine", "as specified", *occurring),
        rows=tuple(rows),
        note=_OUTCOME_NOTE,
    )


def _features(
    by_engine: Mapping[str, Sequence[ProbeResult]], names: Mapping[str, str]
) -> Table:
    """Return what is declared of the engines in the run, beside what is proven."""
    columns: dict[str, Mapping[str, Cell]] = {}
    for engine, results in by_engine.items():
        for declaration in _declarations_of(names.get(engine, "")):
            columns[f"{declaration.title}: documents"] = _declared(declaration)
        columns[f"{engine}: probes"] = {
            feature: f"{level} ({good} of {total})"
            for feature, (level, good, total) in proven(results).items()
        }
    probed_only = sorted(
        {e.feature for results in by_engine.values() for e in results} - set(features())
    )
    rows_of = (*features(), *probed_only)
    return Table(
        title="Features declared by documents and proven by probes",
        columns=("feature", *columns),
        rows=tuple(
            (feature, *(column.get(feature) for column in columns.values()))
            for feature in rows_of
        ),
        note=_FIGURE_NOTE,
        name="probe features",
    )


def _figure() -> Table:
    """Return Figure 4: what all documents declare, the paper's first."""
    documented = sorted(declarations(), key=lambda declaration: not declaration.paper)
    return Table(
        title="Features declared by documents (Figure 4)",
        columns=("feature", *(declaration.title for declaration in documented)),
        rows=tuple(
            (name, *(declaration.of(name).value for declaration in documented))
            for name in features()
        ),
        note=_sources(),
        name="declared features",
    )


def _declared(declaration: Declaration) -> dict[str, Cell]:
    return {name: declaration.of(name).value for name in features()}


def _declarations_of(name: str) -> Iterator[Declaration]:
    return (
        declaration for declaration in declarations() if name in declaration.engines
    )


def _sources() -> str:
    return " ".join(
        f"{declaration.title}: {declaration.document}."
        for declaration in declarations()
        if not declaration.paper
    )


def _matrix(engine: str, results: Sequence[ProbeResult]) -> Table:
    cells = {(e.name, e.dialect, e.context): e.outcome for e in results}
    lines = dict.fromkeys((e.name, e.dialect) for e in results)
    return Table(
        title=f"Probes of {engine}: keyword by context",
        columns=("probe", "dialect", *CONTEXTS),
        rows=tuple(
            (
                name,
                dialect,
                *(_cell(cells.get((name, dialect, context))) for context in CONTEXTS),
            )
            for name, dialect in lines
        ),
        note=_OUTCOME_NOTE,
        name=f"probe {engine}",
    )


def _cell(outcome: ProbeOutcome | None) -> Cell:
    return NOT_RUN if outcome is None else outcome.value


def _heat_map(by_engine: Mapping[str, Sequence[ProbeResult]]) -> Plot:
    shares = {engine: proven(results) for engine, results in by_engine.items()}
    names = dict.fromkeys(feature for support in shares.values() for feature in support)
    return heat_map(
        "probe-features",
        "Share of probes that are as specified",
        {
            feature: {
                engine: _share(supports.get(feature))
                for engine, supports in shares.items()
            }
            for feature in names
        },
    )


def _share(support: tuple[Support, int, int] | None) -> float | None:
    return support[1] / support[2] if support else None
