"""Coverage as the paper's Table 4 has it, and figures that the paper leaves out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evaluation.reporting.tables import BRACKETS, Cell, MissingFigure, Rate, Table
from evaluation.results.suite_tables import NOT_TOLD, total_cost
from evaluation.suites.common import count_table
from evaluation.suites.coverage.efficiency import spread, tokens
from evaluation.suites.coverage.scorer import TextClass, TextVerdict
from evaluation.suites.coverage.texts import (
    GeneratedText,
    configs_of_texts,
    is_unconstrained,
    texts_by_engine,
    texts_of_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredRun

_NOTE = (
    "declared: texts whose schema the engine took, of all. empirical: texts that their "
    "schema accepts, of all. compliance: the same, of those declared (Definitions 5.1 "
    "and 5.2 of arXiv 2501.10868). Under the record's own dialect with formats. "
    "Listing 10: as the paper prints it, under 2020-12 whatever the schema says. as "
    "published: as its code and lm-evaluation-harness do, which refuse every address "
    "and uuid, strip fences, and read null as ull. " + BRACKETS
)
_OUTPUT_NOTE = (
    "Of the texts that were written to an end or a limit. tokens: median with "
    "quartiles, the end not counted; a text cut off by the budget is a lower bound. "
    "forced: of all tokens, those the engine gave. trivial: `null`, `true`, `false`, "
    "`[]`, `{}`, a bare string out of an enum, or nothing but required members at the "
    "root, of the compliant texts. cost: of all texts whose tokens the server counted, "
    "in the currency of the prices."
)
_NOTHING = MissingFigure("no engine")
_KINDS = ("empirical", "compliance")
#: By which rules a text is held against its schema, as columns name them.
_READINGS: Mapping[str, Callable[[GeneratedText], bool]] = {
    "": lambda text: text.compliant,
    ", Listing 10": lambda text: text.accepted_by("paper"),
    ", as published": lambda text: text.accepted_by("published"),
}


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    sides = texts_by_engine(run)
    yield coverage(sides)
    yield keywords(sides)
    yield outputs(sides)


def coverage(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return declared, empirical and compliance, by config and engine."""
    rows = [
        (config, engine, *_rates(engine, list(texts_of_config(side, config))))
        for config in configs_of_texts(sides)
        for engine, side in sides.items()
    ]
    return Table(
        title="Coverage (Table 4)",
        columns=(
            "config",
            "engine",
            "declared",
            *(f"{kind}{name}" for name in _READINGS for kind in _KINDS),
        ),
        rows=tuple(rows),
        note=_NOTE,
        name="coverage",
    )


def _rates(engine: str, texts: Sequence[GeneratedText]) -> tuple[Cell, ...]:
    declared = [text for text in texts if text.declared]
    measured = [text for text in texts if text.is_declaration_known]
    cells: list[Cell] = [share_of_texts(measured, lambda text: text.declared)]
    for good in _READINGS.values():
        cells += [share_of_texts(texts, good), share_of_texts(declared, good)]
    if is_unconstrained(engine):
        # Declared coverage, and the rates divided by it.
        cells[::2] = [_NOTHING] * len(cells[::2])
    return tuple(cells)


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
    return count_table(
        "Violated keywords",
        "violated-keywords",
        "keyword",
        counts,
        "Texts that are JSON and that their schema refuses; mixed: for several.",
    )


def outputs(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return the lengths of the texts, and the share of trivial ones."""
    rows: list[dict[str, Cell]] = []
    for engine, side in sides.items():
        texts = [text for text in side if text.generation.generated]
        written = [text.generation for text in texts]
        compliant = [text for text in side if text.compliant]
        undecided = sum(
            text.judgement is not None and text.judgement.own is TextVerdict.UNDECIDED
            for text in side
        )
        rows.append(
            {
                "engine": engine,
                "texts": len(written),
                "tokens": spread(written, tokens, "tokens"),
                "forced": _forced(texts),
                "trivial": share_of_texts(
                    compliant,
                    lambda text: text.judgement is not None and text.judgement.trivial,
                ),
                "with a thought": sum(bool(text.reasoning) for text in written),
                "undecided": undecided,
                "cost": total_cost(text.cost for text in written)
                or (NOT_TOLD if any(text.pieces for text in written) else None),
            }
        )
    return Table.of_records("Outputs", rows, _OUTPUT_NOTE, "outputs")


def _forced(texts: Sequence[GeneratedText]) -> Rate | None:
    """Return the share of forced tokens, clustered by schema.

    None without a local text: servers do not report it.
    """
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for text in texts:
        generation = text.generation
        if generation.pieces is None:
            forced, of = counts.get(text.schema_key, (0, 0))
            counts[text.schema_key] = (
                forced + generation.forced,
                of + len(generation.tokens),
            )
    if not counts:
        return None
    return Rate.total(Rate(forced, of) for forced, of in counts.values())


def share_of_texts(
    texts: Iterable[GeneratedText], good: Callable[[GeneratedText], bool]
) -> Rate:
    """Return how many texts are so; texts for one schema are not independent."""
    return Rate.of_answers((text.schema_key, good(text)) for text in texts)
