"""Coverage as the paper's Table 4 has it, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from evaluation.generation.generated_texts import (
    configs_of_texts,
    texts_by_engine,
    texts_of_config,
)
from evaluation.generation.judgement import TextClass, TextVerdict
from evaluation.generation.local_writer import UNCONSTRAINED
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, MissingFigure, Rate, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.task import RunRows
    from evaluation.generation.generation_rows import GeneratedText
    from evaluation.generation.text_generation import Generation

_NOTE = (
    "declared: texts whose schema the engine took, of all. empirical: texts that their "
    "schema accepts, of all. compliance: the same, of those declared (Definitions 5.1 "
    "and 5.2 of arXiv 2501.10868). Under the record's own dialect with formats; 'as "
    "paper' under 2020-12 with formats, whatever the schema says. Brackets: Wilson's "
    "95 % interval."
)
_OUTPUT_NOTE = (
    "Of the texts that were written to an end or a limit. tokens: median, the end not "
    "counted. forced: of all tokens, those the engine gave. trivial: `{}`, or nothing "
    "but required members at the root, of the compliant texts. cost: of all texts "
    "whose tokens the server counted, in the money of --price."
)
_NOTHING = MissingFigure("no engine")


def report(run: RunRows) -> Report:
    """Return the tables of task coverage; what would be empty is left out."""
    sides = texts_by_engine(run)
    tables = [coverage(sides), outcomes(sides), keywords(sides), outputs(sides)]
    tables.append(adapted(sides))
    return Report(tables=tuple(table for table in tables if table.rows))


def adapted(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return what texts are worth under the schemas that providers were sent."""
    rows: list[tuple[Cell, ...]] = []
    for engine, side in sides.items():
        found = [text for text in side if text.generation.adapted]
        if found:
            own = sum(text.compliant for text in found)
            sent = sum(
                text.judgement is not None
                and text.judgement.adapted is TextVerdict.VALID
                for text in found
            )
            rows.append((engine, Rate(sent, len(found)), Rate(own, len(found))))
    return Table(
        title="Adapted schemas",
        columns=("engine", "valid under the adapted", "valid under the original"),
        rows=tuple(rows),
        note="Texts whose provider wanted another schema than the record's.",
        name="adapted",
    )


def coverage(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return declared, empirical and compliance, by config and engine."""
    rows: list[tuple[Cell, ...]] = []
    for config in configs_of_texts(sides):
        for engine, side in sides.items():
            rows.append(
                (config, engine, *_rates(engine, list(texts_of_config(side, config))))
            )
    return Table(
        title="Coverage (Table 4)",
        columns=(
            "config",
            "engine",
            "declared",
            "empirical",
            "compliance",
            "empirical, as paper",
            "compliance, as paper",
        ),
        rows=tuple(rows),
        note=_NOTE,
        name="coverage",
    )


def _rates(engine: str, found: Sequence[GeneratedText]) -> tuple[Cell, ...]:
    declared = sum(text.declared for text in found)
    own = sum(text.compliant for text in found)
    paper = sum(text.compliant_as_paper for text in found)
    free = engine.partition(" ")[0] == UNCONSTRAINED
    return (
        _NOTHING if free else Rate(declared, len(found)),
        Rate(own, len(found)),
        _NOTHING if free else Rate(own, declared),
        Rate(paper, len(found)),
        _NOTHING if free else Rate(paper, declared),
    )


def outcomes(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return how many texts of each engine are in each class."""
    counts = {
        engine: Counter(text.outcome for text in side) for engine, side in sides.items()
    }
    used = [
        kind for kind in TextClass if any(kind in found for found in counts.values())
    ]
    return Table(
        title="What became of every text",
        columns=("engine", "texts", *(kind.value for kind in used)),
        rows=tuple(
            (engine, len(side), *(counts[engine][kind] for kind in used))
            for engine, side in sides.items()
        ),
        note="; ".join(f"{kind.value}: {kind.explanation}" for kind in used),
        name="outcomes",
    )


def keywords(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return which keyword the texts violate that are JSON and not compliant."""
    counts = {
        engine: Counter(
            text.judgement.keyword or "(the schema itself)"
            for text in side
            if text.outcome is TextClass.VIOLATES and text.judgement is not None
        )
        for engine, side in sides.items()
    }
    total: Counter[str] = Counter()
    for found in counts.values():
        total.update(found)
    names = sorted(total, key=lambda name: (-total[name], name))
    return Table(
        title="Violated keywords",
        columns=("keyword", *sides),
        rows=tuple(
            (name, *(counts[engine][name] for engine in sides)) for name in names
        ),
        note="Texts that are JSON and that their schema refuses; mixed: for several.",
        name="violated-keywords",
    )


def outputs(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return how long the texts are, and how many say next to nothing."""
    rows: list[tuple[Cell, ...]] = []
    for engine, side in sides.items():
        written = [text.generation for text in side if text.generation.generated]
        compliant = [text for text in side if text.compliant]
        trivial = sum(
            text.judgement is not None and text.judgement.trivial for text in compliant
        )
        tokens = [
            length
            for generation in written
            if (length := generation.length) is not None
        ]
        undecided = sum(
            text.judgement is not None and text.judgement.own is TextVerdict.UNDECIDED
            for text in side
        )
        rows.append(
            (
                engine,
                len(written),
                median(tokens) if tokens else None,
                Rate(sum(generation.forced for generation in written), sum(tokens)),
                Rate(trivial, len(compliant)),
                undecided,
                _cost(written),
            )
        )
    return Table(
        title="Outputs",
        columns=(
            "engine",
            "texts",
            "tokens",
            "forced",
            "trivial",
            "undecided",
            "cost",
        ),
        rows=tuple(rows),
        note=_OUTPUT_NOTE,
        name="outputs",
    )


def _cost(written: Sequence[Generation]) -> float | None:
    """Return what the texts cost together; None where no price is known."""
    known = [generation.cost for generation in written if generation.cost is not None]
    return sum(known) if known else None
