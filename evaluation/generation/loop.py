"""The generation loop: read the prompt, mask, choose, feed, until all texts have ended.

The engine works in its own process. It compiles while the model reads the prompt,
and computes the next mask while the model computes the next logits. In a batch no text
waits for the grammar of another, and a text that ends makes room for the next.

Logits stay on the model's device, and the tokens of a batch are chosen there at once:
the loop waits for the device once a token.
"""

from __future__ import annotations

import math
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import numpy as np

from evaluation.core.cases import Result
from evaluation.generation.engine_session import EngineEnded
from evaluation.generation.text_generation import (
    DecodingStep,
    Generation,
    LoopOptions,
    TextEnding,
    TokenizedRequest,
)
from evaluation.masks.engine_process import CoreWaits
from evaluation.models.hardware import TimedWork, check_device, is_memory_used_up
from evaluation.models.token_choice import (
    ChosenToken,
    ChosenTokens,
    RowLogits,
    TokenChooser,
    TokenQuestion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.generation.engine_session import EngineSession
    from evaluation.models.transformers import TransformersModel

#: Seconds for which one of several texts that all wait for a grammar looks for it.
_LOOK = 0.002


#: No logit of a token that may come next is as low: some models put tokens that are
#: none there, and masks put tokens that are forbidden lower still.
_LOWEST: Final = -1.5e38


class LogitsError(ArithmeticError):
    """A model's logits are not numbers; no token can be chosen."""


def is_choice(best: float) -> bool:
    """Return whether the best logit belongs to an allowed token.

    Raises:
        LogitsError: it is not a number, or infinite.
    """
    if math.isnan(best) or best == math.inf:
        message = f"the model's best logit is {best}"
        raise LogitsError(message)
    return best > _LOWEST


@dataclass(slots=True)
class TextUnderWay:
    """One text under way."""

    #: Its place among the requests.
    index: int
    request: TokenizedRequest
    session: EngineSession | None
    #: Whence tokens are drawn; None where the likeliest is taken.
    random: np.random.Generator | None
    #: When it was begun, by the clock of `perf_counter_ns`.
    start: int
    #: How long the loop had waited for its core by then; 0 if not counted.
    core_wait_ns: int = 0
    #: The pass that it was fed last: what it took, and when it was handed over.
    work: TimedWork = field(default=lambda: 0)
    handed_over: int = 0
    #: Logits for the next token; None before the first pass.
    logits: RowLogits | None = None
    #: When the loop began to look for the mask, and when it had it.
    wait_begun: int = 0
    wait_over: int = 0
    #: The engine's own time for it; None without an engine.
    mask_ns: int | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    #: What the next pass is to be fed.
    ahead: list[int] = field(default_factory=list)
    steps: list[DecodingStep] = field(default_factory=list)
    tied: bool = False
    fed: int = 0
    #: What the loop itself has taken since the last step.
    loop_ns: int = 0
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

    def waited_ns(self) -> int:
        """Return how long the loop stood waiting when the logits were there."""
        logits_there = self.handed_over + self.work()
        return max(0, self.wait_over - max(self.wait_begun, logits_there))

    def note_step(self, chosen: ChosenTokens | None) -> None:
        """Keep the figures of a pass after which a token was chosen, or forced."""
        wait = None if self.session is None else self.waited_ns()
        # The first wait is that for the grammar.
        if self.compile_wait_ns is None:
            self.compile_wait_ns = wait
        transfer = None if chosen is None else chosen.transfer
        apply = None if chosen is None else chosen.apply
        self.steps.append(
            DecodingStep(
                fed=self.fed,
                forward_ns=self.work(),
                mask_ns=self.mask_ns,
                wait_ns=wait,
                transfer_ns=None if transfer is None else transfer(),
                apply_ns=None if apply is None else apply(),
                sampling_ns=None if chosen is None else chosen.sampling(),
                loop_ns=self.loop_ns,
            )
        )


class _Batch:
    """Texts that share the model's passes, one for each session."""

    def __init__(
        self,
        model: TransformersModel,
        sessions: Sequence[EngineSession | None],
        options: LoopOptions,
        on_end: Callable[[int, Generation], None],
        waits: CoreWaits,
    ) -> None:
        self._model = model
        self._waits = waits
        self._options = options
        self._on_end = on_end
        #: Sessions without a text.
        self._free = deque(sessions)
        self._is_alone = len(sessions) == 1
        self._rows = model.open()
        self._chooser = TokenChooser(model.module.device, model.clock, model.tie)
        #: The texts under way, in the order of the rows.
        self._active: list[TextUnderWay] = []
        self._outcomes: dict[int, Generation] = {}

    def run(self, requests: Sequence[TokenizedRequest]) -> list[Generation]:
        """Return the outcome of each request, in order."""
        waiting = deque(enumerate(requests))
        while waiting or self._active:
            begun = []
            while waiting and self._free:
                begun.append(self._begin_text(*waiting.popleft()))
            for text in begun:
                self._read_prompt(text)
            self._advance()
            self._drop_ended()
            if any(text.ahead for text in self._active):
                self._feed()
        return [self._outcomes[index] for index in range(len(requests))]

    def _begin_text(self, index: int, request: TokenizedRequest) -> TextUnderWay:
        """Have its grammar compiled; return it, its prompt not read."""
        session = self._free.popleft()
        start = perf_counter_ns()
        options = self._options
        if session is not None:
            forced = request.budget if options.forced else 0
            seconds = options.compile_seconds
            session.compile(request.schema, seconds, forced=forced)
        return TextUnderWay(
            index=index,
            request=request,
            session=session,
            random=np.random.default_rng(request.seed) if request.temperature else None,
            start=start,
            core_wait_ns=self._waits.total() or 0,
        )

    def _read_prompt(self, text: TextUnderWay) -> None:
        text.handed_over = perf_counter_ns()
        try:
            begun = self._model.clock.moment()
            logits = self._rows.admit(text.request.prompt)
            text.work = self._model.clock.since(begun)
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            self._end_by_model(text, error)
            self._report(text)
            return
        text.logits = RowLogits(of=logits[None])
        text.fed = len(text.request.prompt)
        self._active.append(text)

    def _drop_ended(self) -> None:
        """Report finished texts, and make room for others."""
        going = [row for row, text in enumerate(self._active) if text.outcome is None]
        if len(going) == len(self._active):
            return
        for text in self._active:
            if text.outcome is not None:
                self._report(text)
        self._active = [self._active[row] for row in going]
        self._rows.keep(going)

    def _report(self, text: TextUnderWay) -> None:
        self._free.append(text.session)
        if text.outcome is not None:
            self._outcomes[text.index] = text.outcome
            self._on_end(text.index, text.outcome)

    def _feed(self) -> None:
        """One pass over the pending tokens of each text."""
        rows = [text.ahead for text in self._active]
        start = perf_counter_ns()
        try:
            begun = self._model.clock.moment()
            logits = self._rows.feed(rows)
            work = self._model.clock.since(begun)
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            self._lose_all(error)
            return
        for row, text in enumerate(self._active):
            if text.ahead:
                text.logits = RowLogits(of=logits, row=row)
                text.fed, text.work, text.handed_over = len(text.ahead), work, start
                text.ahead = []

    def _lose_all(self, error: Exception) -> None:
        """End every text: the state of the batch is unknown."""
        for text in self._active:
            if text.outcome is None:
                self._end_by_model(text, error)
            self._report(text)
        self._active, self._rows = [], self._model.open()

    def _advance(self) -> None:
        """Choose the next token of every text for which it can be chosen."""
        ready = []
        for text in self._active:
            if text.logits is None:
                continue
            with self._failures(text):
                if self._wait_later(text):
                    continue
                question = self._look_for_mask(text, text.logits)
                text.logits = None
                if question is not None:
                    ready.append((text, question))
        if ready:
            self._choose(ready)

    def _wait_later(self, text: TextUnderWay) -> bool:
        """Return whether the others continue while this text's grammar is compiled."""
        if text.session is None or not text.is_compiling():
            return False
        other_texts = [
            other
            for other in self._active
            if other is not text and other.outcome is None
        ]
        # Alone it may wait; otherwise it looks, longer if all are waiting.
        idle = not any(text.ahead or not text.is_compiling() for text in other_texts)
        return bool(other_texts) and text.session.is_waiting(_LOOK if idle else 0.0)

    def _look_for_mask(
        self, text: TextUnderWay, logits: RowLogits
    ) -> TokenQuestion | None:
        """Wait for the mask; None where the grammar fixes how texts begin."""
        text.wait_begun = text.wait_over = perf_counter_ns()
        allowed = None
        if text.session is not None:
            if text.compile_ns is None and self._begin_grammar(text, text.session):
                text.wait_over = perf_counter_ns()
                text.note_step(None)
                text.loop_ns = 0
                return None
            text.mask_ns = text.session.mask()
            text.wait_over = perf_counter_ns()
            allowed = text.session.allowed
        return TokenQuestion(
            logits=logits,
            allowed=allowed,
            temperature=text.request.temperature,
            draw=0.0 if text.random is None else text.random.random(),
            look_for_ties=text.random is None and not self._is_alone,
        )

    def _choose(self, ready: Sequence[tuple[TextUnderWay, TokenQuestion]]) -> None:
        """Choose the next token of each text, and hand it to its engine."""
        try:
            choices = self._chooser.choose([question for _, question in ready])
            choices.sampling()  # Waits for the device, where it may fail.
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            self._lose_all(error)
            return
        for (text, _), token in zip(ready, choices.tokens, strict=True):
            with self._failures(text):
                self._take_choice(text, token, choices)
        for text, _ in ready if self._options.forced else ():
            if text.session is None or text.outcome is not None:
                continue
            # The engines have the tokens of all by now.
            with self._failures(text):
                self._add_forced(text, text.session.forced_after())

    @contextmanager
    def _failures(self, text: TextUnderWay) -> Iterator[None]:
        """End a text on which its engine, or what the model computed, fails."""
        try:
            yield
        except EngineEnded as ended:
            self._end(text, TextEnding.ENGINE, ended.detail, ended.result)
        except LogitsError as error:
            self._end_by_model(text, error)

    def _take_choice(
        self, text: TextUnderWay, token: ChosenToken, choices: ChosenTokens
    ) -> None:
        """Book the token chosen for a text."""
        may_come = is_choice(token.best)
        text.note_step(choices)
        start = perf_counter_ns()
        if may_come:
            text.tied = text.tied or token.tied
            self._book(text, token.token)
        else:
            self._end(text, TextEnding.DEAD_END, "the mask allows no token and no end")
        text.loop_ns = perf_counter_ns() - start

    def _begin_grammar(self, text: TextUnderWay, session: EngineSession) -> bool:
        """Wait for the grammar; return whether it fixes how every text begins."""
        compiled = session.compiled()
        text.compile_ns, text.warnings = compiled.compile_ns, compiled.warnings
        if not compiled.forced:
            return False
        text.first_ns = text.last_ns = text.age_ns()
        self._add_forced(text, compiled.forced)
        return True

    def _book(self, text: TextUnderWay, token: int) -> None:
        """Take a chosen token: the text ends with it, or continues."""
        text.last_ns = text.age_ns()
        text.first_ns = text.first_ns or text.last_ns
        if token in self._model.end_tokens:
            self._end(text, TextEnding.END)
            return
        text.tokens.append(token)
        text.ahead = [token]
        if self._is_used_up(text) or self._is_late(text) or text.session is None:
            return
        remaining = text.request.budget - len(text.tokens)
        text.session.take(
            token,
            forced=remaining if self._options.forced else 0,
            seconds=self._options.run_seconds,
        )

    def _is_late(self, text: TextUnderWay) -> bool:
        """End a text over its time; return whether it was.

        For how long the loop waited for its core is the machine's, not the text's.
        """
        allowed = self._options.run_seconds * 1e9 + (text.compile_wait_ns or 0)
        if text.last_ns > allowed:
            allowed += (self._waits.total() or 0) - text.core_wait_ns
        if text.last_ns <= allowed:
            return False
        detail = f"not written within {self._options.run_seconds:g} s"
        self._end(text, TextEnding.TIMEOUT, detail, Result.TIMEOUT)
        return True

    def _add_forced(self, text: TextUnderWay, forced: Sequence[int]) -> None:
        """Append tokens that the engine has taken already; they are to be fed."""
        text.tokens.extend(forced)
        text.forced += len(forced)
        text.ahead.extend(forced)
        self._is_used_up(text)

    def _is_used_up(self, text: TextUnderWay) -> bool:
        """End a text over its budget; return whether it was."""
        if len(text.tokens) < text.request.budget:
            return False
        self._end(text, TextEnding.TRUNCATED, f"{text.request.budget} tokens")
        return True

    def _end_by_model(self, text: TextUnderWay, error: Exception) -> None:
        """End a text on which the model failed.

        Raises:
            Unavailable: the device has failed, and every other text would too.
        """
        check_device(error)
        message = f"{type(error).__name__}: {str(error)[:500]}"
        full = is_memory_used_up(error)
        result = Result.OUT_OF_MEMORY if full else Result.ERROR
        logits = isinstance(error, LogitsError)
        self._end(
            text, TextEnding.LOGITS if logits else TextEnding.MODEL, message, result
        )

    def _end(
        self,
        text: TextUnderWay,
        ending: TextEnding,
        detail: str = "",
        result: Result = Result.OK,
    ) -> None:
        text.outcome = Generation(
            id=text.request.id,
            result=result,
            ending=ending,
            detail=detail,
            warnings=text.warnings,
            text=self._model.text(text.tokens),
            tokens=tuple(text.tokens),
            forced=text.forced,
            tied=text.tied,
            prompt_tokens=len(text.request.prompt),
            compile_ns=text.compile_ns,
            compile_wait_ns=text.compile_wait_ns,
            ttft_ns=text.first_ns,
            total_ns=text.last_ns or None,
            steps=tuple(text.steps),
        )


def generate(
    model: TransformersModel,
    requests: Sequence[TokenizedRequest],
    sessions: Sequence[EngineSession | None],
    options: LoopOptions,
    *,
    on_end: Callable[[int, Generation], None] = lambda _place, _generation: None,
) -> list[Generation]:
    """Generate texts, one a session at a time.

    Args:
        model: The model.
        requests: One for each text; a waiting one is begun as soon as another ends.
        sessions: Constrain the texts under way; None leaves one unconstrained.
        options: Forced tokens, deadlines.
        on_end: Called when a text has ended, with its place among the requests.

    Returns:
        The outcome of each request, in order, including failures of engine and model.

    Raises:
        WorkerDidNotStart: an engine cannot be loaded.
        Unavailable: the model's device has failed (exit 69).

    Example:
        >>> (generation,) = generate(model, [request], [None], LoopOptions())
    """
    with closing(CoreWaits()) as waits:
        return _Batch(model, sessions, options, on_end, waits).run(requests)
