"""What is known of each time of a text: how long it took, or that it took longer.

A deadline that passes, and a budget that is used up, leave a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from evaluation.core.cases import Result
from evaluation.generation.text_generation import TextEnding
from evaluation.reporting.quantiles import Quantile, Quantiles
from evaluation.reporting.tables import Quartiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evaluation.core.run_header import LimitsHeader
    from evaluation.generation.text_generation import Generation

    #: Returns a figure of one text, or what it is at least; None if nothing is known.
    Figure: TypeAlias = Callable[[Generation], Quantile | None]


@dataclass(frozen=True, slots=True)
class TextFigures:
    """The figures of texts that were written under some limits."""

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

    def first_token_without_compile(self, text: Generation) -> Quantile | None:
        """Return the same less what was waited for the compile; of a server unknown."""
        if text.pieces is not None:
            return None
        found = text.ttft_without_compile_ns
        if found is not None:
            return Quantile(found)
        if _compile_cut_off(text):
            return None
        return self._deadline(text, after_compile=True)

    def per_token(self, text: Generation) -> Quantile | None:
        """Return the mean time of each later token; of a time-out at least that."""
        found = text.tpot_ns
        late = text.result is Result.TIMEOUT
        return None if found is None else Quantile(found, at_least=late)

    def total(self, text: Generation) -> Quantile | None:
        """Return the time of the whole text; of one that was cut off at least that."""
        if text.result is Result.TIMEOUT:
            return self._deadline(text)
        if text.total_ns is None:
            return None
        return Quantile(text.total_ns, at_least=_cut_off(text))

    def _deadline(
        self, text: Generation, *, after_compile: bool = False
    ) -> Quantile | None:
        """Return the deadline that a text has passed; None if it has passed none."""
        if text.result is not Result.TIMEOUT:
            return None
        if _compile_cut_off(text):
            bound = self.limits.compile_ns
        else:
            waited = 0 if after_compile else text.compile_wait_ns or 0
            bound = None if self.limits.run_ns is None else self.limits.run_ns + waited
        found = max(bound or 0, text.total_ns or 0)
        return Quantile(found, at_least=True) if found else None


def tokens(text: Generation) -> Quantile | None:
    """Return the tokens of a text; of one that was cut off at least these."""
    length = text.length
    return None if length is None else Quantile(length, at_least=_cut_off(text))


def forced_tokens(text: Generation) -> Quantile | None:
    """Return the tokens that the engine gave; of a cut-off text at least these.

    None of a server's text: it does not tell.
    """
    if text.pieces is not None:
        return None
    return Quantile(text.forced, at_least=_cut_off(text))


def median_of(texts: Iterable[Generation], figure: Figure) -> Quantile | None:
    """Return the median of a figure; None where nobody has it."""
    return _quantiles(texts, figure).at(50)


def spread(
    texts: Iterable[Generation], figure: Figure, unit: str = "ns"
) -> Quartiles | None:
    """Return the median and quartiles of a figure; None where nobody has it."""
    return Quartiles.of(_quantiles(texts, figure), unit)


def _quantiles(texts: Iterable[Generation], figure: Figure) -> Quantiles:
    found = [one for one in map(figure, texts) if one is not None]
    return Quantiles.of(
        [one.value for one in found if not one.at_least],
        [one.value for one in found if one.at_least],
    )


def _cut_off(text: Generation) -> bool:
    return text.ending is TextEnding.TRUNCATED or text.result is Result.TIMEOUT


def _compile_cut_off(text: Generation) -> bool:
    """Return whether the compile's own deadline passed; a server has none."""
    return (
        text.result is Result.TIMEOUT
        and text.compile_ns is None
        and text.pieces is None
        and text.ending is TextEnding.ENGINE
    )
