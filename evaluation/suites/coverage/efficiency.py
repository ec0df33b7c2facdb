"""Times as the paper's Tables 2, 3, 12 and 13 have them.

A time-out or an exhausted budget leaves a lower bound of a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.reporting.statistics import Quantile, quantile
from evaluation.reporting.tables import (
    Cell,
    MissingFigure,
    Quartiles,
    Table,
)
from evaluation.results.suite_rows import scored_run
from evaluation.suites.coverage.texts import (
    CommonTexts,
    GeneratedText,
    configs_of_texts,
    is_unconstrained,
    on_common_samples,
    texts_by_engine,
    texts_of_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.core.run_header import LimitsHeader
    from evaluation.core.task import RunRows
    from evaluation.generation.text_generation import DecodingStep

    #: Returns a figure of one text, or a lower bound; None if nothing is known.
    Figure: TypeAlias = Callable[[Generation], Quantile | None]

_NOTE: Final = (
    "Medians with quartiles, over the texts for schemas on which every engine here "
    "wrote or ran out of time. GCT: the compile call. TTFT: from the request to the "
    "first token, the compile included. "
    "TPOT: mean time of each later token, (TGT - TTFT) / (n - 1). TGT: the whole. "
    "What a deadline or the budget cut off is at least that, and prints so."
)
_STEP_NOTE: Final = (
    "Medians over all forward passes of those texts but their first. mask: the "
    "engine's own time. wait: time that the loop waited for it beyond the pass that "
    "it overlaps. transfer, apply: of the mask, to and on the model's device. "
    "sampling: choosing the token. loop: booking it. tokens per pass: 1 unless forced "
    "tokens are fed together."
)
#: What a forward pass takes time for: fields of `DecodingStep`.
_PARTS: Final = ("forward", "mask", "wait", "transfer", "apply", "sampling", "loop")


def tables(run: RunRows) -> Iterator[Table]:
    """Yield the tables of task efficiency."""
    texts = texts_by_engine(scored_run(run, "coverage"))
    common = on_common_samples(texts)
    limits = run.header.limits
    yield efficiency(common, limits)
    yield steps(common.sides)


def efficiency(common: CommonTexts, limits: LimitsHeader) -> Table:
    """Return the times of each engine, by config."""
    rows: list[dict[str, Cell]] = []
    figures = TextFigures(limits)
    for config in configs_of_texts(common.sides):
        for engine, side in common.sides.items():
            texts = list(texts_of_config(side, config))
            generations = [text.generation for text in texts]
            no_engine = MissingFigure("no engine") if is_unconstrained(engine) else None
            rows.append(
                {
                    "config": config,
                    "engine": engine,
                    "schemas": len({text.schema_key for text in texts}),
                    "texts": len(generations),
                    "GCT": no_engine or spread(generations, figures.compile),
                    "TTFT": spread(generations, figures.first_token),
                    "TPOT": spread(generations, figures.per_token),
                    "TGT": spread(generations, figures.total),
                    "output": spread(generations, tokens, "tokens"),
                    "forced": spread(generations, forced_tokens, "tokens"),
                }
            )
    note = _NOTE
    if common.left_out:
        note += f" Left out for lack of a text: {', '.join(common.left_out)}."
    title = "Efficiency (Tables 2, 3, 12, 13)"
    return Table.of_records(title, rows, note, "efficiency")


def steps(sides: Mapping[str, Sequence[GeneratedText]]) -> Table:
    """Return the cost of a forward pass, its mask and the loop."""
    rows: list[dict[str, Cell]] = []
    for engine, side in sides.items():
        # The first pass of a text is its prompt's.
        later = [step for text in side for step in text.generation.steps[1:]]
        if later:
            rows.append(
                {
                    "engine": engine,
                    "passes": len(later),
                    **{
                        part: Quartiles.of(_known(later, f"{part}_ns"))
                        for part in _PARTS
                    },
                    "tokens per pass": _tokens_per_pass(side),
                }
            )
    return Table.of_records("Passes and masks", rows, _STEP_NOTE, "passes")


def _known(steps: Sequence[DecodingStep], name: str) -> list[int]:
    figures = (getattr(step, name) for step in steps)
    return [figure for figure in figures if figure is not None]


def _tokens_per_pass(side: Sequence[GeneratedText]) -> float | None:
    """Return the tokens of all texts, their ends among them, for each pass."""
    written = passes = 0
    for text in side:
        generation = text.generation
        written += len(generation.tokens) + (generation.ending is TextEnding.END)
        passes += len(generation.steps) - (generation.ending is TextEnding.DEAD_END)
    return written / passes if passes else None


@dataclass(frozen=True, slots=True)
class TextFigures:
    """The figures of texts written under some limits."""

    limits: LimitsHeader

    def compile(self, text: Generation) -> Quantile | None:
        """Return the compile call's time, in nanoseconds."""
        if text.compile_ns is not None:
            return Quantile(text.compile_ns)
        if not _compile_cut_off(text) or self.limits.compile_ns is None:
            return None
        return Quantile(self.limits.compile_ns, at_least=True)

    def first_token(self, text: Generation) -> Quantile | None:
        """Return the time to the first token, the compile included."""
        if text.ttft_ns is not None:
            return Quantile(text.ttft_ns)
        return self._deadline(text)

    def per_token(self, text: Generation) -> Quantile | None:
        """Return the mean time of each later token; a lower bound after a time-out."""
        ns = text.tpot_ns
        late = text.result is Result.TIMEOUT
        return None if ns is None else Quantile(ns, at_least=late)

    def total(self, text: Generation) -> Quantile | None:
        """Return the time of the whole text; a lower bound if it was cut off."""
        if text.result is Result.TIMEOUT:
            return self._deadline(text)
        if text.total_ns is None:
            return None
        return Quantile(text.total_ns, at_least=_is_cut_off(text))

    def _deadline(self, text: Generation) -> Quantile | None:
        """Return the deadline that a text has passed; None if it has passed none."""
        if text.result is not Result.TIMEOUT:
            return None
        if _compile_cut_off(text):
            bound = self.limits.compile_ns
        else:
            waited = text.compile_wait_ns or 0
            bound = None if self.limits.run_ns is None else self.limits.run_ns + waited
        ns = max(bound or 0, text.total_ns or 0)
        return Quantile(ns, at_least=True) if ns else None


def tokens(text: Generation) -> Quantile | None:
    """Return the tokens of a text; a lower bound if it was cut off."""
    length = text.length
    return None if length is None else Quantile(length, at_least=_is_cut_off(text))


def forced_tokens(text: Generation) -> Quantile | None:
    """Return the tokens given by the engine; a lower bound for a cut-off text.

    None for a server's text: servers do not report it.
    """
    if text.pieces is not None:
        return None
    return Quantile(text.forced, at_least=_is_cut_off(text))


def compute_median(texts: Iterable[Generation], figure: Figure) -> Quantile | None:
    """Return the median of a figure; None where nobody has it."""
    return quantile(50, *_values_and_bounds(texts, figure))


def spread(
    texts: Iterable[Generation], figure: Figure, unit: str = "ns"
) -> Quartiles | None:
    """Return the median and quartiles of a figure; None where nobody has it."""
    return Quartiles.of(*_values_and_bounds(texts, figure), unit)


def _values_and_bounds(
    texts: Iterable[Generation], figure: Figure
) -> tuple[list[float], list[float]]:
    figures = [known for known in map(figure, texts) if known is not None]
    return (
        [known.value for known in figures if not known.at_least],
        [known.value for known in figures if known.at_least],
    )


def _is_cut_off(text: Generation) -> bool:
    return text.ending is TextEnding.TRUNCATED or text.result is Result.TIMEOUT


def _compile_cut_off(text: Generation) -> bool:
    """Return whether the compile's own deadline passed; a server has none."""
    return (
        text.result is Result.TIMEOUT
        and text.compile_ns is None
        and text.pieces is None
        and text.ending is TextEnding.ENGINE
    )
