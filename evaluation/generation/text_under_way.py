"""The state of a text in the generation loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from evaluation.generation.text_generation import (
    DecodingStep,
    Generation,
    TextEnding,
    TokenizedRequest,
)
from evaluation.models.base import NO_WORK, RowLogits, TimedWork, TokenQuestion

if TYPE_CHECKING:
    import numpy as np

    from evaluation.core.cases import Result
    from evaluation.generation.engine_session import EngineSession, TokenMask
    from evaluation.models.base import ChosenTokens


#: No logit of a token that may come next is as low: some models put tokens that are
#: none there, and masks put tokens that are forbidden lower still.
_LOWEST: Final = -1.5e38


class LogitsError(ArithmeticError):
    """What a model computes are no numbers; there is nothing to choose from."""


def is_choice(best: float) -> bool:
    """Return whether the best logit is that of a token which may come next.

    Raises:
        LogitsError: it is no number, or infinite.
    """
    if math.isnan(best) or best == math.inf:
        message = f"the model's best logit is {best}"
        raise LogitsError(message)
    return best > _LOWEST


@dataclass(slots=True)
class TextUnderWay:
    """One text under way."""

    #: Its place among the requests.
    place: int
    request: TokenizedRequest
    session: EngineSession | None
    #: Whence tokens are drawn; None where the likeliest is taken.
    random: np.random.Generator | None
    #: When it was begun, by the clock of `perf_counter_ns`.
    start: int
    #: How long the loop had waited for its core by then; 0 if not counted.
    core_wait_ns: int = 0
    #: The pass that it was fed last: what it took, and when it was handed over.
    work: TimedWork = NO_WORK
    handed_over: int = 0
    #: Logits for the next token; None while there are none to choose from.
    logits: RowLogits | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    #: What the next pass is to be fed.
    ahead: list[int] = field(default_factory=list)
    steps: list[DecodingStep] = field(default_factory=list)
    tied: bool = False
    fed: int = 0
    #: What the loop itself has taken since the last step.
    loop_ns: int = 0
    #: Reading its prompt.
    prefill: TimedWork | None = None
    compile_ns: int | None = None
    compile_wait_ns: int | None = None
    warnings: tuple[str, ...] = ()
    first_ns: int | None = None
    last_ns: int = 0
    outcome: Generation | None = None

    def is_compiling(self) -> bool:
        """Return whether its grammar is not there yet."""
        return self.session is not None and self.compile_ns is None

    def age_ns(self) -> int:
        """Return for how long it has been under way."""
        return perf_counter_ns() - self.start

    def waited_ns(self, begun: int, ready_ns: int) -> int:
        """Return how long the loop stood waiting when the logits were there.

        Args:
            begun: When it began to look for what it waited for.
            ready_ns: When it had that.
        """
        logits_there = self.handed_over + self.work.ns()
        return max(0, ready_ns - max(begun, logits_there))

    def note_step(
        self, wait_ns: int | None, mask_ns: int | None, chosen: ChosenTokens | None
    ) -> None:
        """Keep the figures of a pass after which a token was chosen, or forced."""
        transfer = None if chosen is None else chosen.transfer
        apply = None if chosen is None else chosen.apply
        self.steps.append(
            DecodingStep(
                fed=self.fed,
                forward_ns=self.work.ns(),
                mask_ns=mask_ns,
                wait_ns=wait_ns,
                transfer_ns=None if transfer is None else transfer.ns(),
                apply_ns=None if apply is None else apply.ns(),
                sampling_ns=None if chosen is None else chosen.sampling.ns(),
                loop_ns=self.loop_ns,
            )
        )

    def ended(
        self, ending: TextEnding, written: str, detail: str, result: Result
    ) -> Generation:
        """Return what has come of it; `written` is the text of its tokens."""
        return Generation(
            id=self.request.id,
            result=result,
            ending=ending,
            detail=detail,
            warnings=self.warnings,
            text=written,
            tokens=tuple(self.tokens),
            forced=self.forced,
            tied=self.tied,
            prompt_tokens=len(self.request.prompt),
            compile_ns=self.compile_ns,
            compile_wait_ns=self.compile_wait_ns,
            prefill_ns=None if self.prefill is None else self.prefill.ns(),
            ttft_ns=self.first_ns,
            total_ns=self.last_ns or None,
            steps=tuple(self.steps),
        )


@dataclass(frozen=True, slots=True)
class TextChoice:
    """A text whose next token can be chosen: nothing is waited for any more."""

    text: TextUnderWay
    logits: RowLogits
    #: None without an engine.
    mask: TokenMask | None
    #: When the loop began to look for the mask, and when it had it.
    begun: int
    ready_ns: int

    def question(self, *, look_for_ties: bool) -> TokenQuestion:
        """Return what the model is asked: a token of these, whether one is near it."""
        text, mask = self.text, self.mask
        return TokenQuestion(
            logits=self.logits,
            allowed=None if mask is None else mask.allowed,
            temperature=text.request.temperature,
            draw=0.0 if text.random is None else text.random.random(),
            look_for_ties=look_for_ties and text.random is None,
        )

    def note_step(self, chosen: ChosenTokens) -> int | None:
        """Keep the figures of the pass; return how long the mask was waited for."""
        text, mask = self.text, self.mask
        wait = None if mask is None else text.waited_ns(self.begun, self.ready_ns)
        text.note_step(wait, None if mask is None else mask.ns, chosen)
        return wait
