"""Coverage as the paper's Table 4 has it, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from evaluation.generation.generated_texts import configs_of, texts, texts_of_config
from evaluation.generation.judgement import TextClass, TextVerdict
from evaluation.generation.local_writer import UNCONSTRAINED
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, Missing, Rate, Table

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
_NOTHING = Missing("no engine")


def report(run: RunRows) -> Report:
    """Return the tables of task coverage; what would be empty is left out."""
    sides = texts(run)
    tables = [coverage(sides), outcomes(sides), keywords(sides), outputs(sides)]
    tables.append(adapted(sides))
    return Report(tables=tuple(each for each in tables if each.rows))


def adapted(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return what texts are worth under the schemas that providers were sent."""
    rows: list[tuple[Cell, ...]] = []
    for engine, side in sides.items():
        found = [each for each in side if each.generation.adapted]
        if found:
            own = sum(each.compliant for each in found)
            sent = sum(
                each.judgement is not None
                and each.judgement.adapted is TextVerdict.VALID
                for each in found
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
    for config in configs_of(sides):
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
    declared = sum(each.declared for each in found)
    own = sum(each.compliant for each in found)
    paper = sum(each.compliant_as_paper for each in found)
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
        engine: Counter(each.outcome for each in side) for engine, side in sides.items()
    }
    used = [
        each for each in TextClass if any(each in found for found in counts.values())
    ]
    return Table(
        title="What became of every text",
        columns=("engine", "texts", *(each.value for each in used)),
        rows=tuple(
            (engine, len(side), *(counts[engine][each] for each in used))
            for engine, side in sides.items()
        ),
        note="; ".join(f"{each.value}: {each.explanation}" for each in used),
        name="outcomes",
    )


def keywords(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return which keyword the texts violate that are JSON and not compliant."""
    counts = {
        engine: Counter(
            each.judgement.keyword or "(the schema itself)"
            for each in side
            if each.outcome is TextClass.VIOLATES and each.judgement is not None
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
        written = [each.generation for each in side if each.generation.generated]
        compliant = [each for each in side if each.compliant]
        trivial = sum(
            each.judgement is not None and each.judgement.trivial for each in compliant
        )
        tokens = [each.length for each in written]
        undecided = sum(
            each.judgement is not None and each.judgement.own is TextVerdict.UNDECIDED
            for each in side
        )
        rows.append(
            (
                engine,
                len(written),
                median(tokens) if tokens else None,
                Rate(sum(each.forced for each in written), sum(tokens)),
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
    """Return what the texts cost together; None where nobody gave a price."""
    known = [each.cost for each in written if each.cost is not None]
    return sum(known) if known else None
