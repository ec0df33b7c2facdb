"""Times as the paper's Tables 2, 3, 12 and 13 have them, and paired ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.generation.generated_texts import (
    ALL,
    configs_of_texts,
    on_common_samples,
    texts_by_engine,
    texts_of_config,
)
from evaluation.generation.local_writer import UNCONSTRAINED
from evaluation.reporting.bootstrap import geometric_ratio
from evaluation.reporting.quantiles import Quantiles
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Cell, Duration, MissingFigure, Ratio, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evaluation.core.task import RunRows
    from evaluation.generation.generation_rows import GeneratedText
    from evaluation.generation.text_generation import Generation

_NOTE = (
    "Medians, in brackets the quartiles, over the schemas on which every engine here "
    "wrote a text to its end or its budget. GCT: the compile call. TTFT: from the "
    "request to the first token, the compile included; 'without compile' less what "
    "was waited for it. TPOT: mean time of each later token. TGT: the whole."
)
_STEP_NOTE = (
    "Medians over all forward passes of those texts. mask: the engine's own time. "
    "wait: what the loop stood waiting for it beyond the pass that it overlaps. "
    "tokens per pass: above 1 where forced tokens are fed together."
)
_RATIO_NOTE = (
    "Geometric mean over the same schemas of the engine's figure divided by the "
    "unconstrained one, with a 95 % interval by bootstrap over schemas."
)


def report(run: RunRows) -> Report:
    """Return the tables of task efficiency."""
    sides = {
        engine: list(found.values())
        for engine, found in on_common_samples(texts_by_engine(run)).items()
    }
    tables = [efficiency(sides), steps(sides)]
    if any(map(_is_free, sides)) and len(sides) > 1:
        tables.append(ratios(sides))
    return Report(tables=tuple(tables))


def _is_free(engine: str) -> bool:
    return engine.partition(" ")[0] == UNCONSTRAINED


def efficiency(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return the times of each engine, by config."""
    rows: list[tuple[Cell, ...]] = []
    for config in configs_of_texts(sides):
        for engine, side in sides.items():
            found = [text.generation for text in texts_of_config(side, config)]
            compile_ = _spread(found, lambda generation: generation.compile_ns)
            rows.append(
                (
                    config,
                    engine,
                    len(found),
                    MissingFigure("no engine") if _is_free(engine) else compile_,
                    _spread(found, lambda generation: generation.ttft_ns),
                    _spread(
                        found, lambda generation: generation.ttft_without_compile_ns
                    ),
                    _spread(found, lambda generation: generation.tpot_ns),
                    _spread(found, lambda generation: generation.total_ns),
                    _count(found, lambda generation: generation.length),
                    _count(found, lambda generation: generation.forced),
                )
            )
    return Table(
        title="Efficiency (Tables 2, 3, 12, 13)",
        columns=(
            "config",
            "engine",
            "schemas",
            "GCT",
            "TTFT",
            "TTFT without compile",
            "TPOT",
            "TGT",
            "output tokens",
            "forced",
        ),
        rows=tuple(rows),
        note=_NOTE,
        name="efficiency",
    )


def _spread(
    found: Iterable[Generation], figure: Callable[[Generation], float | None]
) -> Cell:
    values = [
        value for generation in found if (value := figure(generation)) is not None
    ]
    quantiles = Quantiles.of(values)
    middle = quantiles.at(50)
    low, high = quantiles.at(25), quantiles.at(75)
    if middle is None or low is None or high is None:
        return None
    return f"{Duration(middle.value)} [{Duration(low.value)}, {Duration(high.value)}]"


def _count(
    found: Iterable[Generation], figure: Callable[[Generation], int | None]
) -> float | None:
    known = [value for one in found if (value := figure(one)) is not None]
    middle = Quantiles.of(known).at(50)
    return None if middle is None else middle.value


def steps(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return what a forward pass and its mask cost."""
    rows: list[tuple[Cell, ...]] = []
    for engine, side in sides.items():
        # The first pass of a text is its prompt's.
        later = [step for text in side for step in text.generation.steps[1:]]
        tokens = sum(text.generation.length or 0 for text in side)
        rows.append(
            (
                engine,
                len(later),
                _middle([step.forward_ns for step in later]),
                _middle([step.mask_ns for step in later if step.mask_ns is not None]),
                _middle([step.wait_ns for step in later if step.wait_ns is not None]),
                tokens / len(later) if later else None,
            )
        )
    return Table(
        title="Passes and masks",
        columns=("engine", "passes", "forward", "mask", "wait", "tokens per pass"),
        rows=tuple(rows),
        note=_STEP_NOTE,
        name="passes",
    )


def _middle(values: Sequence[float]) -> Cell:
    middle = Quantiles.of(values).at(50)
    return None if middle is None else Duration(middle.value)


def ratios(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return each engine's times divided by the unconstrained ones, paired."""
    free = next(engine for engine in sides if _is_free(engine))
    figures: dict[str, Callable[[Generation], float | None]] = {
        "TTFT": lambda generation: generation.ttft_ns,
        "TPOT": lambda generation: generation.tpot_ns,
        "TGT": lambda generation: generation.total_ns,
    }
    rows = tuple(
        (
            engine,
            *(
                _ratio(
                    [figure(text.generation) for text in sides[free]],
                    [figure(text.generation) for text in side],
                )
                for figure in figures.values()
            ),
        )
        for engine, side in sides.items()
        if engine != free
    )
    return Table(
        title=f"Against {free} ({ALL} configs)",
        columns=("engine", *figures),
        rows=rows,
        note=_RATIO_NOTE,
        name="ratios",
    )


def _ratio(free: Sequence[float | None], engine: Sequence[float | None]) -> Cell:
    pairs = [
        (a, b)
        for a, b in zip(free, engine, strict=True)
        if a is not None and b is not None
    ]
    found = geometric_ratio([a for a, _ in pairs], [b for _, b in pairs])
    return None if found is None else Ratio(found.value, found.interval)
