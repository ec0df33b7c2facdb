"""Reports of the task `probe`: declared, proven and theoretical coverage.

The matrix is the paper's Figure 4, beside each engine's documented support. If the run
has schemas too, their features give the theoretical coverage of Table 11: a schema is
covered if all its features are supported (definition C.1), by documents or by probes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from curation.schema.keywords import REFERENCE_KEYWORDS
from evaluation.reporting.report import Report
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Table
from evaluation.results.outcomes import did_compile, features_of, formats_of
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.keyword_probes import FORMAT_OF_PROBE, UNKNOWN
from evaluation.tasks.probe.outcomes import (
    FORMAT,
    GOOD,
    Declaration,
    ProbeOutcome,
    ProbeResult,
    Support,
    coverage,
    declarations,
    features,
    judge_probe,
    proven,
)
from evaluation.tasks.probe.pairs import pairs_table
from evaluation.tasks.probe.probe import CONTEXTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evaluation.core.cases import Row
    from evaluation.core.task import RunRows

_T = TypeVar("_T")
#: From the contexts that a schema has to what is supported there.
_SupportOf: TypeAlias = Callable[[frozenset[str]], Mapping[str, Support]]
_ALL: Final = "all"
_NOTE: Final = (
    "Fully: every feature of the schema is supported; at least in part: none is "
    "unsupported or unknown. Probes count a feature as fully supported only if it is "
    "as specified in all ways that were probed, and in all contexts that the schema "
    "has (root and property always: rows do not say otherwise); of `format` the values "
    "that the schema has. Compiled: what the engine took in this run."
)
#: Context of a probe to the features that show that a schema has it; `properties` is
#: in nearly every schema, and no feature.
_SHOWN_BY: Final[Mapping[str, frozenset[str]]] = {
    "item": frozenset(
        {"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"}
    ),
    "$ref": frozenset(REFERENCE_KEYWORDS),
    "allOf": frozenset({"allOf"}),
    "anyOf": frozenset({"anyOf"}),
    "oneOf": frozenset({"oneOf"}),
}


@dataclass(slots=True)
class _Schemas:
    #: Config to features of each schema.
    features: dict[str, list[tuple[str, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    #: Engine and config to whether each schema compiled.
    compiled: dict[str, dict[str, list[bool]]] = field(default_factory=dict)


def theoretical_coverages(
    run: RunRows,
    by_engine: Mapping[str, Sequence[ProbeResult]],
    names: Mapping[str, str],
) -> list[Table]:
    """Return Table 11 of the run's schemas; nothing if it has none."""
    schemas = _schemas(run)
    if not schemas.features:
        return []
    bases = {
        engine: _bases(names.get(engine, ""), results)
        for engine, results in by_engine.items()
    }
    rows: list[tuple[Cell, ...]] = []
    for config in (*sorted(schemas.features), _ALL):
        used = _of(config, schemas.features)
        for engine in by_engine:
            took = _of(config, schemas.compiled.get(engine, {}))
            for basis, support_of in bases[engine]:
                rows.append((config, engine, basis, *_rates(used, support_of, took)))
    return [
        Table(
            title="Theoretical coverage (Table 11)",
            columns=("config", "engine", "by", "fully", "at least partly", "compiled"),
            rows=tuple(rows),
            note=_NOTE,
            name="theoretical coverage",
        )
    ]


def _schemas(run: RunRows) -> _Schemas:
    schemas, keys, counted = _Schemas(), set(), set()
    for row in run.rows():
        if "features" not in row.label:
            continue
        key = (row.config, row.id)
        if key not in keys:
            keys.add(key)
            schemas.features[row.config].append(tuple(_used(row)))
        if (row.engine, *key) not in counted:
            counted.add((row.engine, *key))
            own = schemas.compiled.setdefault(row.engine, {})
            own.setdefault(row.config, []).append(did_compile(row))
    return schemas


def _used(row: Row) -> Iterator[str]:
    """Yield a schema's features; for `format` its values, if the row says them."""
    formats = formats_of(row)
    for feature in features_of(row):
        if feature != "format" or not formats:
            yield feature
        else:
            for name in formats:
                known = name in FORMAT_OF_PROBE.values()
                yield FORMAT + (name if known else UNKNOWN)


def contexts_of(features: Iterable[str]) -> frozenset[str]:
    """Return the contexts of probes that a schema with these features has.

    Example:
        >>> sorted(contexts_of(["items", "@minmaxLength"]))
        ['item', 'property', 'root']
    """
    used = frozenset(features)
    contexts = {name for name, marks in _SHOWN_BY.items() if used & marks}
    return frozenset({ROOT, "property", *contexts})


def _probed(outcomes: Sequence[ProbeResult]) -> dict[str, Support]:
    told_apart = [
        replace(result, feature=FORMAT + FORMAT_OF_PROBE[result.name])
        for result in outcomes
        if result.name in FORMAT_OF_PROBE
    ]
    support = {**proven(outcomes), **proven(told_apart)}
    return {feature: level for feature, (level, _, _) in support.items()}


def _of(config: str, groups: Mapping[str, list[_T]]) -> list[_T]:
    if config == _ALL:
        return [schema for group in groups.values() for schema in group]
    return groups.get(config, [])


def _bases(name: str, results: Sequence[ProbeResult]) -> list[tuple[str, _SupportOf]]:
    """Return the bases of coverage: each document, and the probes.

    Each is a function from the contexts of a schema to the features supported there.
    """

    @cache
    def proven_in(contexts: frozenset[str]) -> Mapping[str, Support]:
        return _probed([result for result in results if result.context in contexts])

    declared: list[tuple[str, _SupportOf]] = [
        (declaration.title, declaration.features_in)
        for declaration in _declarations_of(name)
    ]
    return [*declared, ("probes", proven_in)]


def _rates(
    used: list[tuple[str, ...]], support_of: _SupportOf, took: list[bool]
) -> tuple[Cell, ...]:
    levels = [
        coverage(features, support_of(contexts_of(features))) for features in used
    ]
    return (
        Rate(levels.count(Support.YES), len(levels)),
        Rate(len(levels) - levels.count(Support.NO), len(levels)),
        Rate(sum(took), len(took)) if took else None,
    )


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
    of_pairs: dict[str, list[Row]] = defaultdict(list)
    for row in run.rows(NAME):
        if row.label.get("pair"):
            of_pairs[row.engine].append(row)
        else:
            own = run.header.participant(row.engine).refusals
            by_engine.setdefault(row.engine, []).append(judge_probe(row, own))
    names = run.header.names()
    tables = [_outcomes(by_engine), _features(by_engine, names), _figure()]
    tables += [pairs_table(of_pairs)] if of_pairs else []
    tables += theoretical_coverages(run, by_engine, names)
    tables += [_matrix(engine, results) for engine, results in by_engine.items()]
    return Report(tables=tuple(tables))


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
    columns: dict[str, Mapping[str, Cell]] = {}
    for engine, results in by_engine.items():
        for declaration in _declarations_of(names.get(engine, "")):
            columns[f"{declaration.title}: documents"] = {
                name: declaration.of(name).value for name in features()
            }
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
        note=" ".join(
            f"{declaration.title}: {declaration.document}."
            for declaration in declarations()
            if not declaration.paper
        ),
        name="declared features",
    )


def _declarations_of(name: str) -> Iterator[Declaration]:
    return (
        declaration for declaration in declarations() if name in declaration.engines
    )


def _matrix(engine: str, results: Sequence[ProbeResult]) -> Table:
    cells = {(e.name, e.dialect, e.context): e.outcome.value for e in results}
    lines = dict.fromkeys((e.name, e.dialect) for e in results)
    return Table(
        title=f"Probes of {engine}: keyword by context",
        columns=("probe", "dialect", *CONTEXTS),
        rows=tuple(
            (
                name,
                dialect,
                *(cells.get((name, dialect, context), NOT_RUN) for context in CONTEXTS),
            )
            for name, dialect in lines
        ),
        note=_OUTCOME_NOTE,
        name=f"probe {engine}",
    )
