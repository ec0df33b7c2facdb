"""Reports of the task `declared`: what compiles, what is refused, and for what.

Declared coverage is the paper's (section 5): the share of schemas that an engine
takes without a refusal, a time-out or a death, whatever it then enforces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Result
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Rate, Table
from evaluation.tasks.declared.outcomes import sum_declarations

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from evaluation.core.task import RunRows
    from evaluation.reporting.tables import Cell
    from evaluation.tasks.declared.outcomes import EngineDeclarations

#: Lines of the table of keywords, for each engine.
_MOST: Final = 15
#: Characters of a message that is an example.
_LINE: Final = 70
_COVERAGE_NOTE: Final = (
    "Declared: the schema compiles, whatever is enforced then; with a warning: of "
    "these, the engine itself says that something is not. Brackets: Wilson's 95 % "
    "interval."
)
_KEYWORDS_NOTE: Final = (
    "Named: schemas whose refusal means the keyword (several may be meant). Alone: it "
    "means no other. Unlocks: of these, the schema has no other feature that the "
    "engine's refusals mean and that no schema that compiles has; an engine stops at "
    "its first complaint, so this is the most that the keyword can unlock. Keywords "
    "that come together (if, then, else; minimum and maximum) count as one."
)
_KINDS_NOTE: Final = (
    "keyword: not supported; reference: a $ref that is not followed; regex: a pattern "
    "that is not read; limit: too large or too deep for it; unsatisfiable: it finds "
    "that nothing fits; malformed: not a schema to it; defect: it stumbles over "
    "itself; unmapped: a message that csbdata does not know."
)


def report(run: RunRows) -> Report:
    """Return coverage, reasons and keywords of every engine."""
    engines = list(sum_declarations(run).values())
    return Report(tables=tuple(_tables(engines)))


def _tables(engines: list[EngineDeclarations]) -> Iterator[Table]:
    yield _coverage(engines)
    yield _configs(engines)
    yield _kinds(engines)
    yield _keywords(engines)
    for title, column, counts in (
        ("Refused values of format", "format", [engine.formats for engine in engines]),
        ("Keywords in warnings", "keyword", [engine.admitted for engine in engines]),
    ):
        if any(counts):
            yield _counted(title, column, engines, counts)


def _coverage(engines: list[EngineDeclarations]) -> Table:
    others = [
        result for result in Result if any(one.results[result] for one in engines)
    ]
    others = [result for result in others if result is not Result.OK]
    rows: list[tuple[Cell, ...]] = [
        (
            engine.engine,
            Rate(engine.results[Result.OK], engine.total),
            Rate(engine.warned, engine.results[Result.OK]),
            *(engine.results[result] for result in others),
        )
        for engine in engines
    ]
    words = (result.replace("_", " ") for result in others)
    return Table(
        title="Declared coverage",
        columns=("engine", "declared", "with a warning", *words),
        rows=tuple(rows),
        note=_COVERAGE_NOTE,
    )


def _configs(engines: list[EngineDeclarations]) -> Table:
    configs = sorted({config for engine in engines for config in engine.configs})
    rows: list[tuple[Cell, ...]] = [
        (config, engine.engine, Rate(sum(took), len(took)))
        for config in configs
        for engine in engines
        if (took := engine.configs.get(config))
    ]
    return Table(
        title="Declared coverage by config",
        columns=("config", "engine", "declared"),
        rows=tuple(rows),
    )


def _kinds(engines: list[EngineDeclarations]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            engine.engine,
            kind,
            Rate(count, engine.kinds.total()),
            _line(engine.examples[kind]),
        )
        for engine in engines
        for kind, count in engine.kinds.most_common()
    ]
    return Table(
        title="Reasons of refusals",
        columns=("engine", "reason", "of refusals", "for example"),
        rows=tuple(rows),
        note=_KINDS_NOTE,
    )


def _keywords(engines: list[EngineDeclarations]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for engine in engines:
        compiled = engine.results[Result.OK]
        for keyword, named, alone, unlocks in engine.keywords()[:_MOST]:
            then = Rate(compiled + unlocks, engine.total)
            rows.append((engine.engine, keyword, named, alone, unlocks, then))
    return Table(
        title="Which one keyword would unlock the most schemas",
        columns=("engine", "keyword", "named", "alone", "unlocks", "declared then"),
        rows=tuple(rows),
        note=_KEYWORDS_NOTE,
        name="declared keywords",
    )


def _counted(
    title: str,
    column: str,
    engines: list[EngineDeclarations],
    counts: list[Counter[str]],
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (engine.engine, name, count)
        for engine, counted in zip(engines, counts, strict=True)
        for name, count in counted.most_common(_MOST)
    ]
    return Table(title=title, columns=("engine", column, "schemas"), rows=tuple(rows))


def _line(text: str) -> str:
    """Return the beginning of a message, on one line."""
    words = " ".join(text.split())
    return words if len(words) <= _LINE else f"{words[: _LINE - 1]}…"
