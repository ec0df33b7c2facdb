"""The generation loop: prefill, mask, pick, feed, until every text has ended.

The engine works in its own process. It compiles while the model prefills the prompt,
and computes the next mask while the model computes the next logits; either overlap
can be switched off, to measure what it saves. In a batch a text whose grammar is not
there yet does not hold up the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING

from evaluation.core.cases import Result
from evaluation.generation.engine_session import EngineEnded
from evaluation.generation.text_generation import (
    DecodingStep,
    Generation,
    LoopOptions,
    TextEnding,
)
from evaluation.generation.token_choice import TokenPicker

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from evaluation.generation.engine_session import EngineSession, TokenMask
    from evaluation.generation.text_generation import TokenizedRequest
    from evaluation.models.base import Decoding, LanguageModel

#: Seconds for which one of several texts that all wait for a grammar looks for it.
_LOOK = 0.002


@dataclass(slots=True)
class _Text:
    """One text under way."""

    request: TokenizedRequest
    session: EngineSession | None
    picker: TokenPicker
    #: Logits for the next token; None while there are none to choose from.
    logits: torch.Tensor | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    #: What the next pass is to be fed.
    ahead: list[int] = field(default_factory=list)
    steps: list[DecodingStep] = field(default_factory=list)
    fed: int = 0
    forward_ns: int = 0
    compile_ns: int | None = None
    compile_wait_ns: int | None = None
    first_ns: int | None = None
    last_ns: int = 0
    outcome: Generation | None = None

    def is_compiling(self) -> bool:
        return self.session is not None and self.compile_ns is None


class _Batch:
    """Texts that share the model's passes."""

    #: There from the prefill on.
    _decoding: Decoding

    def __init__(
        self,
        model: LanguageModel,
        texts: Sequence[_Text],
        options: LoopOptions,
        line: str,
    ) -> None:
        self._model = model
        self._line = line
        self._all = texts
        self._options = options
        self._start = perf_counter_ns()
        self._active: list[_Text] = []
        self._prefill_ns = 0

    def run(self) -> list[Generation]:
        options = self._options
        for text in self._all:
            if text.session is not None:
                text.session.compile(
                    text.request.schema,
                    options.compile_seconds,
                    forced=text.request.budget if options.forced else 0,
                )
                if not options.overlap_compile:
                    text.session.wait_for_answers()
        self._prefill()
        while self._active:
            for text in self._active:
                self._advance(text)
            going = [i for i, text in enumerate(self._active) if text.outcome is None]
            if len(going) < len(self._active):
                self._active = [self._active[i] for i in going]
                if self._active:
                    self._decoding.keep(going)
            if any(text.ahead for text in self._active):
                self._feed()
        return [text.outcome for text in self._all if text.outcome is not None]

    def _prefill(self) -> None:
        start = perf_counter_ns()
        self._active = list(self._all)
        prompts = [text.request.prompt for text in self._active]
        self._decoding, logits = self._model.begin(prompts, self._line)
        self._prefill_ns = perf_counter_ns() - start
        for row, text in enumerate(self._active):
            text.logits = logits[row]
            text.fed, text.forward_ns = len(text.request.prompt), self._prefill_ns

    def _feed(self) -> None:
        """One pass over what each text has ahead."""
        start = perf_counter_ns()
        logits = self._decoding.feed([text.ahead for text in self._active])
        took = perf_counter_ns() - start
        for row, text in enumerate(self._active):
            if text.ahead:
                text.logits = logits[row]
                text.fed, text.forward_ns = len(text.ahead), took
                text.ahead = []

    def _advance(self, text: _Text) -> None:
        """Choose the next token of one text, if it can be chosen."""
        if text.logits is None or self._wait_later(text):
            return
        try:
            self._choose(text, text.logits)
        except EngineEnded as ended:
            self._end(text, TextEnding.ENGINE, ended.detail, ended.result)

    def _wait_later(self, text: _Text) -> bool:
        """Return whether the others go on while this text's grammar is compiled."""
        if text.session is None or not text.is_compiling():
            return False
        others = [
            other
            for other in self._active
            if other is not text and other.outcome is None
        ]
        # Alone it may as well stand still; else it looks, longer if all are waiting.
        idle = not any(other.ahead or not other.is_compiling() for other in others)
        return bool(others) and text.session.is_waiting(_LOOK if idle else 0.0)

    def _choose(self, text: _Text, logits: torch.Tensor) -> None:
        start = perf_counter_ns()
        mask, begun = None, False
        if text.session is not None:
            if text.compile_ns is None:
                begun = self._begin(text, text.session)
            if not begun:
                mask = text.session.mask()
            wait = perf_counter_ns() - start
            if text.compile_wait_ns is None:
                own = 0 if self._options.overlap_compile else text.compile_ns or 0
                text.compile_wait_ns = wait + own
        step = DecodingStep(
            fed=text.fed,
            forward_ns=text.forward_ns,
            mask_ns=None if mask is None else mask.ns,
            wait_ns=None if text.session is None else wait,
        )
        text.steps.append(step)
        text.logits = None
        if not begun:
            self._pick(text, logits, mask)

    def _begin(self, text: _Text, session: EngineSession) -> bool:
        """Wait for the grammar; return whether it says how every text begins."""
        compiled = session.compiled()
        text.compile_ns = compiled.ns
        if not compiled.forced:
            return False
        text.first_ns = text.last_ns = perf_counter_ns() - self._start
        self._add_forced(text, compiled.forced)
        return True

    def _pick(self, text: _Text, logits: torch.Tensor, mask: TokenMask | None) -> None:
        token = text.picker.pick(logits, mask)
        now = perf_counter_ns() - self._start
        if token is None:
            self._end(text, TextEnding.DEAD_END, "the mask allows no token and no end")
        elif token in self._model.end_tokens:
            text.first_ns = text.first_ns or now
            text.last_ns = now
            self._end(text, TextEnding.END)
        else:
            self._take(text, token, now)

    def _take(self, text: _Text, token: int, now: int) -> None:
        text.first_ns = text.first_ns or now
        text.last_ns = now
        text.tokens.append(token)
        text.ahead = [token]
        left = text.request.budget - len(text.tokens)
        if self._is_used_up(text):
            return
        if now > self._options.run_seconds * 1e9 + (text.compile_wait_ns or 0):
            detail = f"not written within {self._options.run_seconds:g} s"
            self._end(text, TextEnding.TIMEOUT, detail, Result.TIMEOUT)
            return
        if text.session is None:
            return
        most = left if self._options.forced else 0
        seconds = self._options.run_seconds
        forced = text.session.take(token, forced=most, seconds=seconds)
        self._add_forced(text, forced)
        if not self._options.overlap_mask:
            text.session.wait_for_answers()

    def _add_forced(self, text: _Text, forced: Sequence[int]) -> None:
        """Append tokens that the engine has taken already; they are to be fed."""
        text.tokens.extend(forced)
        text.forced += len(forced)
        text.ahead.extend(forced)
        self._is_used_up(text)

    def _is_used_up(self, text: _Text) -> bool:
        """End a text that has used its budget; return whether it has."""
        if len(text.tokens) < text.request.budget:
            return False
        self._end(text, TextEnding.TRUNCATED, f"{text.request.budget} tokens")
        return True

    def _end(
        self,
        text: _Text,
        ending: TextEnding,
        detail: str = "",
        result: Result = Result.OK,
    ) -> None:
        text.outcome = Generation(
            id=text.request.id,
            result=result,
            ending=ending,
            detail=detail,
            text=self._model.text(text.tokens),
            tokens=tuple(text.tokens),
            forced=text.forced,
            prompt_tokens=len(text.request.prompt),
            reused_tokens=self._decoding.reused,
            compile_ns=text.compile_ns,
            compile_wait_ns=text.compile_wait_ns,
            prefill_ns=self._prefill_ns,
            ttft_ns=text.first_ns,
            total_ns=text.last_ns or None,
            steps=tuple(text.steps),
        )


def generate(
    model: LanguageModel,
    requests: Sequence[TokenizedRequest],
    sessions: Sequence[EngineSession | None],
    options: LoopOptions,
    line: str = "",
) -> list[Generation]:
    """Generate one batch of texts, each under its session's constraint.

    Args:
        model: What writes.
        requests: One for each text.
        sessions: The engine process of each text; None leaves it unconstrained.
        options: How the loop works.
        line: Whose prompts these are: they share a prefix cache with earlier ones of
            the same line only.

    Returns:
        What came of each request, in their order. An engine's failure is an outcome;
        the other texts go on.

    Raises:
        WorkerDidNotStart: an engine cannot be loaded.

    Example:
        >>> (generation,) = generate(model, [request], [None], LoopOptions())
    """
    texts = [
        _Text(
            request=request,
            session=session,
            picker=TokenPicker(
                model.end_tokens,
                temperature=request.temperature,
                seed=request.seed,
            ),
        )
        for request, session in zip(requests, sessions, strict=True)
    ]
    return _Batch(model, texts, options, line).run()
