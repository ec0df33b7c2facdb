"""Reports of the task `probe`: declared, proven and theoretical coverage.

The matrix is the paper's Figure 4, with each engine's documented support. If the run
has schemas too, their features give the theoretical coverage of Table 11: a schema is
covered if all its features are supported (definition C.1), by documents or by probes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.core.documents import Explained
from curation.schema.keywords import REFERENCE_KEYWORDS
from evaluation.reporting.tables import NOT_RUN, Cell, Rate, Table
from evaluation.tasks.probe import NAME
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
from evaluation.tasks.probe.probe import CONTEXTS, FORMAT_OF_PROBE, ROOT, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.core.task import RunRows

#: From the contexts of a schema to the features supported there.
_SupportIn: TypeAlias = Callable[[frozenset[str]], Mapping[str, Support]]
_ALL: Final = "all"
_NOTE: Final = (
    "Fully: every feature of the schema is supported; at least in part: none is "
    "unsupported or unknown. Probes count a feature as fully supported only if it is "
    "as specified in all ways that were probed, and in all contexts that the schema "
    "has (root and property always, as rows do not record these); of `format` the "
    "values that the schema has. Compiled: what the engine took in this run."
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


def theoretical_coverage(
    run: RunRows,
    by_engine: Mapping[str, Sequence[ProbeResult]],
    names: Mapping[str, str],
) -> Table:
    """Return Table 11 of the run's schemas; without rows if it has none."""
    used: dict[tuple[str, str], list[str]] = {}
    compiled: dict[tuple[str, str, str], bool] = {}
    cases = run.frame().select("engine", "config", "id", "label", "compiled")
    for *name, text, is_compiled in cases.iter_rows():
        label = msgspec.json.decode(text)
        engine, config, id_ = name
        if "features" in label:
            used.setdefault((config, id_), [*_used(label)])
            compiled.setdefault((engine, config, id_), is_compiled)
    rows: list[dict[str, Cell]] = []
    bases = {
        engine: [*_bases(names.get(engine, ""), results)]
        for engine, results in by_engine.items()
    }
    for config in (*sorted({config for config, _ in used}), _ALL) if used else ():
        keys = [key for key in used if config in {key[0], _ALL}]
        for engine, basis in ((name, basis) for name in bases for basis in bases[name]):
            title, support_in = basis
            levels = [
                coverage(used[key], support_in(list_contexts(used[key])))
                for key in keys
            ]
            took = [
                compiled[engine, *key] for key in keys if (engine, *key) in compiled
            ]
            rows.append(
                {
                    "config": config,
                    "engine": engine,
                    "by": title,
                    "fully": Rate(levels.count(Support.YES), len(levels)),
                    "at least partly": Rate(
                        len(levels) - levels.count(Support.NO), len(levels)
                    ),
                    "compiled": Rate(sum(took), len(took)) if took else None,
                }
            )
    title = "Theoretical coverage (Table 11)"
    return Table.of_records(title, rows, _NOTE, "theoretical coverage")


def _used(label: Mapping[str, UntypedJson]) -> Iterator[str]:
    """Yield a schema's features; for `format` its values, if its label has them."""
    features, formats = (
        [*map(str, names)] if isinstance(names, list) else []
        for names in (label["features"], label.get("formats"))
    )
    for feature in features:
        if feature != "format" or not formats:
            yield feature
        else:
            for name in formats:
                is_probed = name in FORMAT_OF_PROBE.values()
                yield FORMAT + (name if is_probed else UNKNOWN)


def list_contexts(features: Iterable[str]) -> frozenset[str]:
    """Return the contexts of probes that a schema with these features has.

    Example:
        >>> sorted(list_contexts(["items", "@minmaxLength"]))
        ['item', 'property', 'root']
    """
    used = frozenset(features)
    contexts = {name for name, marks in _SHOWN_BY.items() if used & marks}
    return frozenset({ROOT, "property", *contexts})


def _bases(
    name: str, results: Sequence[ProbeResult]
) -> Iterator[tuple[str, _SupportIn]]:
    """Yield the bases of coverage: each document, and the probes.

    Each is a function from the contexts of a schema to the features supported there; a
    document knows no contexts.
    """
    for declaration in _list_declarations(name):
        yield declaration.title, declaration.features_in
    told_apart = [
        result._replace(feature=FORMAT + FORMAT_OF_PROBE[result.name])
        for result in results
        if result.name in FORMAT_OF_PROBE
    ]

    @cache
    def proven_in(contexts: frozenset[str]) -> Mapping[str, Support]:
        in_contexts = (
            result for result in (*results, *told_apart) if result.context in contexts
        )
        return {
            feature: level for feature, (level, _, _) in proven(in_contexts).items()
        }

    yield "probes", proven_in


_OUTCOME_NOTE: Final = "; ".join(
    f"{outcome}: {outcome.explanation}" for outcome in ProbeOutcome
)
_FIGURE_NOTE: Final = (
    "Documents: what is declared; unknown where they are silent. Probes: as specified "
    "in all ways and contexts (yes), in some (partly), in none (no), and how many."
)


def tables(run: RunRows) -> Iterator[Table]:
    """Yield outcomes, declared and proven support, and every matrix."""
    by_engine: dict[str, list[ProbeResult]] = defaultdict(list)
    of_pairs: dict[str, list[ProbeResult]] = defaultdict(list)
    attempts = run.frame().filter(task=NAME).drop_nulls("outcome")
    for attempt in attempts.iter_rows(named=True):
        result = judge_probe(attempt)
        side = of_pairs if " + " in result.name else by_engine
        side[attempt["engine"]].append(result)
    names = run.header.names()
    yield _outcomes(by_engine)
    yield _features(by_engine, names)
    yield _figure()
    yield _pairs(of_pairs)
    yield theoretical_coverage(run, by_engine, names)
    for engine, results in by_engine.items():
        yield _matrix(engine, results)


def _outcomes(by_engine: Mapping[str, Sequence[ProbeResult]]) -> Table:
    counts = {
        name: Counter(result.outcome for result in results)
        for name, results in by_engine.items()
    }
    occurring = [
        outcome
        for outcome in ProbeOutcome
        if any(by_outcome[outcome] for by_outcome in counts.values())
    ]
    return Table(
        title="Probes: outcomes",
        columns=("engine", "as specified", *occurring),
        rows=tuple(
            (
                name,
                Rate(sum(by_outcome[good] for good in GOOD), by_outcome.total()),
                *(by_outcome[outcome] for outcome in occurring),
            )
            for name, by_outcome in counts.items()
        ),
        note=_OUTCOME_NOTE,
    )


def _features(
    by_engine: Mapping[str, Sequence[ProbeResult]], names: Mapping[str, str]
) -> Table:
    columns: dict[str, Mapping[str, Cell]] = {}
    for engine, results in by_engine.items():
        for declaration in _list_declarations(names.get(engine, "")):
            columns[f"{declaration.title}: documents"] = {
                name: declaration.of(name).value for name in features()
            }
        columns[f"{engine}: probes"] = {
            feature: f"{level} ({good} of {total})"
            for feature, (level, good, total) in proven(results).items()
        }
    probed = sorted(
        {finding.feature for findings in by_engine.values() for finding in findings}
    )
    return Table(
        title="Features declared by documents and proven by probes",
        columns=("feature", *columns),
        rows=tuple(
            (feature, *(column.get(feature) for column in columns.values()))
            for feature in dict.fromkeys((*features(), *probed))
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
            for declaration in documented
            if not declaration.paper
        ),
        name="declared features",
    )


def _list_declarations(name: str) -> list[Declaration]:
    return [
        declaration for declaration in declarations() if name in declaration.engines
    ]


def _matrix(engine: str, results: Sequence[ProbeResult]) -> Table:
    lines: dict[tuple[str, str], dict[str, Cell]] = {}
    for result in results:
        by_context = lines.setdefault(
            (result.name, result.dialect), dict.fromkeys(CONTEXTS, NOT_RUN)
        )
        by_context[result.context] = result.outcome.value
    return Table(
        title=f"Probes of {engine}: keyword by context",
        columns=("probe", "dialect", *CONTEXTS),
        rows=tuple(
            (*line, *map(contexts.get, CONTEXTS)) for line, contexts in lines.items()
        ),
        note=_OUTCOME_NOTE,
        name=f"probe {engine}",
    )


class PairOutcome(Explained):
    """What an engine makes of a pair in one place."""

    ENFORCED = ("enforced", "the valid text passes, both violating ones are blocked")
    IGNORED = ("one ignored", "a text that only one of the two refuses passes")
    OVER = ("over-constrained", "the valid text is blocked")
    REFUSED = ("refused", "the schema is not compiled")
    FAILED = ("failed", "it died, ran out of time, or is at odds with itself")


#: By the outcome of the pair's probe; any other is a failure.
_OUTCOMES: Final = {
    ProbeOutcome.ENFORCED: PairOutcome.ENFORCED,
    ProbeOutcome.IGNORED: PairOutcome.IGNORED,
    ProbeOutcome.WARNED: PairOutcome.IGNORED,
    ProbeOutcome.WRONG: PairOutcome.IGNORED,
    ProbeOutcome.OVER_STRICT: PairOutcome.OVER,
    ProbeOutcome.REFUSED: PairOutcome.REFUSED,
}


def _pairs(by_engine: Mapping[str, Sequence[ProbeResult]]) -> Table:
    """Return the outcomes of pairs by engine."""
    counts = {
        engine: Counter(
            _OUTCOMES.get(result.outcome, PairOutcome.FAILED) for result in results
        )
        for engine, results in by_engine.items()
    }
    return Table(
        title="Pairs of keywords: outcomes",
        columns=("engine", *PairOutcome),
        rows=tuple(
            (
                engine,
                Rate(counted[PairOutcome.ENFORCED], counted.total()),
                *(counted[outcome] for outcome in list(PairOutcome)[1:]),
            )
            for engine, counted in counts.items()
        ),
        note="; ".join(f"{outcome}: {outcome.explanation}" for outcome in PairOutcome),
        name="pairs outcomes",
    )
