"""The generation loop: read the prompt, mask, pick, feed, until every text has ended.

The engine works in its own process. It compiles while the model reads the prompt,
and computes the next mask while the model computes the next logits; either overlap
can be switched off, to measure what it saves. In a batch a text whose grammar is not
there yet does not hold up the others, and a text that ends makes room for the next.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING

from curation.system.errors import Unavailable
from evaluation.core.cases import Result
from evaluation.generation.engine_pipe import EngineEnded
from evaluation.generation.text_generation import (
    DecodingStep,
    Generation,
    LoopOptions,
    TextEnding,
)
from evaluation.generation.token_choice import LogitsError, TokenPicker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from evaluation.generation.engine_session import EngineSession
    from evaluation.generation.text_generation import TokenizedRequest
    from evaluation.models.base import LanguageModel

#: Seconds for which one of several texts that all wait for a grammar looks for it.
_LOOK = 0.002
#: What libraries say in an exception of another class when memory is used up.
_NO_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
)
#: What torch says when the device itself has failed: in this process nothing can be
#: computed there any more.
_DEVICE_LOST = ("cuda error", "cublas_status", "cudnn_status", "hip error")


@dataclass(slots=True)
class _Text:
    """One text under way."""

    #: Its place among the requests.
    place: int
    request: TokenizedRequest
    session: EngineSession | None
    picker: TokenPicker
    #: When it was begun, by the clock of `perf_counter_ns`.
    start: int
    #: Logits for the next token; None while there are none to choose from.
    logits: np.ndarray | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    #: What the next pass is to be fed.
    ahead: list[int] = field(default_factory=list)
    steps: list[DecodingStep] = field(default_factory=list)
    tied: bool = False
    fed: int = 0
    reused: int = 0
    forward_ns: int = 0
    #: What the loop itself has taken since the last step.
    loop_ns: int = 0
    prefill_ns: int | None = None
    compile_ns: int | None = None
    compile_wait_ns: int | None = None
    warnings: tuple[str, ...] = ()
    first_ns: int | None = None
    last_ns: int = 0
    outcome: Generation | None = None

    def is_compiling(self) -> bool:
        return self.session is not None and self.compile_ns is None

    def age_ns(self) -> int:
        return perf_counter_ns() - self.start


class _Batch:
    """Texts that share the model's passes, one for each session."""

    def __init__(
        self,
        model: LanguageModel,
        sessions: Sequence[EngineSession | None],
        options: LoopOptions,
        line: str,
        ended: Callable[[int, Generation], None],
    ) -> None:
        self._model = model
        self._options = options
        self._line = line if options.prefix_cache else None
        self._ended = ended
        #: Sessions without a text.
        self._free = deque(sessions)
        self._is_alone = len(sessions) == 1
        self._decoding = model.open()
        #: The texts under way, in the order of the rows.
        self._active: list[_Text] = []

    def run(self, requests: Sequence[TokenizedRequest]) -> None:
        waiting = deque(enumerate(requests))
        while waiting or self._active:
            while waiting and self._free:
                self._begin_text(*waiting.popleft())
            for text in self._active:
                self._advance(text)
            self._drop_ended()
            if any(text.ahead for text in self._active):
                self._feed()

    def _begin_text(self, place: int, request: TokenizedRequest) -> None:
        """Have its grammar compiled, and its prompt read."""
        session = self._free.popleft()
        tie = 0.0 if self._is_alone else self._model.tie
        text = _Text(
            place=place,
            request=request,
            session=session,
            picker=TokenPicker(
                self._model.end_tokens,
                temperature=request.temperature,
                seed=request.seed,
                tie=tie,
            ),
            start=perf_counter_ns(),
        )
        options = self._options
        if session is not None:
            forced = request.budget if options.forced else 0
            seconds = options.compile_seconds
            session.compile(request.schema, seconds, forced=forced)
            if not options.overlap_compile:
                session.wait_for_answers()
        start = perf_counter_ns()
        try:
            prefill = self._decoding.admit(request.prompt, self._line)
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            self._end_by_model(text, error)
            self._report(text)
            return
        text.prefill_ns = text.forward_ns = perf_counter_ns() - start
        text.logits, text.fed = prefill.logits, len(request.prompt)
        text.reused = prefill.reused
        self._active.append(text)

    def _drop_ended(self) -> None:
        """Report what has ended, and make room for others."""
        going = [row for row, text in enumerate(self._active) if text.outcome is None]
        if len(going) == len(self._active):
            return
        for text in self._active:
            if text.outcome is not None:
                self._report(text)
        self._active = [self._active[row] for row in going]
        self._decoding.keep(going)

    def _report(self, text: _Text) -> None:
        self._free.append(text.session)
        if text.outcome is not None:
            self._ended(text.place, text.outcome)

    def _feed(self) -> None:
        """One pass over what each text has ahead."""
        for text in self._active:
            if text.session is not None:
                text.session.send()
        start = perf_counter_ns()
        try:
            logits = self._decoding.feed([text.ahead for text in self._active])
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            # Nobody knows what is left of the batch.
            for text in self._active:
                self._end_by_model(text, error)
                self._report(text)
            self._active, self._decoding = [], self._model.open()
            return
        took = perf_counter_ns() - start
        for row, text in enumerate(self._active):
            if text.ahead:
                text.logits = logits[row]
                text.fed, text.forward_ns = len(text.ahead), took
                text.ahead = []

    def _advance(self, text: _Text) -> None:
        """Choose the next token of one text, if it can be chosen."""
        if text.logits is None:
            return
        try:
            if not self._wait_later(text):
                self._choose(text, text.logits)
        except EngineEnded as ended:
            self._end(text, TextEnding.ENGINE, ended.detail, ended.result)
        except LogitsError as error:
            self._end_by_model(text, error)

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

    def _choose(self, text: _Text, logits: np.ndarray) -> None:
        """Wait for the mask, choose, and hand the choice to the engine."""
        start = perf_counter_ns()
        mask, begun, wait = None, False, None
        if text.session is not None:
            if text.compile_ns is None:
                begun = self._begin_grammar(text, text.session)
            if not begun:
                mask = text.session.mask()
            wait = perf_counter_ns() - start
            if text.compile_wait_ns is None:
                own = 0 if self._options.overlap_compile else text.compile_ns or 0
                text.compile_wait_ns = wait + own
        start = perf_counter_ns()
        chosen = None if begun else text.picker.pick(logits, mask)
        text.logits = None
        text.steps.append(
            DecodingStep(
                fed=text.fed,
                forward_ns=text.forward_ns,
                mask_ns=None if mask is None else mask.ns,
                wait_ns=wait,
                loop_ns=text.loop_ns + perf_counter_ns() - start,
            )
        )
        start = perf_counter_ns()
        if chosen is not None:
            text.tied = text.tied or chosen.tied
            self._book(text, chosen.token)
        elif not begun:
            self._end(text, TextEnding.DEAD_END, "the mask allows no token and no end")
        text.loop_ns = perf_counter_ns() - start

    def _begin_grammar(self, text: _Text, session: EngineSession) -> bool:
        """Wait for the grammar; return whether it says how every text begins."""
        compiled = session.compiled()
        text.compile_ns, text.warnings = compiled.ns, compiled.warnings
        if not compiled.forced:
            return False
        text.first_ns = text.last_ns = text.age_ns()
        self._add_forced(text, compiled.forced)
        return True

    def _book(self, text: _Text, token: int) -> None:
        """Take a token that was chosen: the text has ended with it, or goes on."""
        text.last_ns = text.age_ns()
        text.first_ns = text.first_ns or text.last_ns
        if token in self._model.end_tokens:
            self._end(text, TextEnding.END)
            return
        text.tokens.append(token)
        text.ahead = [token]
        if self._is_used_up(text) or self._is_late(text) or text.session is None:
            return
        left = text.request.budget - len(text.tokens)
        forced = text.session.take(
            token,
            forced=left if self._options.forced else 0,
            seconds=self._options.run_seconds,
        )
        self._add_forced(text, forced)
        if not self._options.overlap_mask:
            text.session.wait_for_answers()
        elif self._is_alone:
            text.session.send()

    def _is_late(self, text: _Text) -> bool:
        """End a text that has taken too long; return whether it has."""
        allowed = self._options.run_seconds * 1e9 + (text.compile_wait_ns or 0)
        if text.last_ns <= allowed:
            return False
        detail = f"not written within {self._options.run_seconds:g} s"
        self._end(text, TextEnding.TIMEOUT, detail, Result.TIMEOUT)
        return True

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

    def _end_by_model(self, text: _Text, error: Exception) -> None:
        """End a text on which the model failed.

        Raises:
            Unavailable: the device has failed, and every other text would too.
        """
        said = f"{type(error).__name__}: {str(error)[:500]}"
        words = str(error).lower()
        full = isinstance(error, MemoryError) or _has_any(words, _NO_MEMORY)
        if not full and _has_any(words, _DEVICE_LOST):
            raise Unavailable(
                f"the model's device has failed ({str(error).splitlines()[0]})",
                then="look at nvidia-smi; the same command goes on from here",
            ) from error
        result = Result.OUT_OF_MEMORY if full else Result.ERROR
        logits = isinstance(error, LogitsError)
        self._end(text, TextEnding.LOGITS if logits else TextEnding.MODEL, said, result)

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
            warnings=text.warnings,
            text=self._model.text(text.tokens),
            tokens=tuple(text.tokens),
            forced=text.forced,
            tied=text.tied,
            prompt_tokens=len(text.request.prompt),
            reused_tokens=text.reused,
            compile_ns=text.compile_ns,
            compile_wait_ns=text.compile_wait_ns,
            prefill_ns=text.prefill_ns,
            ttft_ns=text.first_ns,
            total_ns=text.last_ns or None,
            steps=tuple(text.steps),
        )


def _has_any(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)


def generate(  # noqa: PLR0913 - what writes, what it writes, and who watches
    model: LanguageModel,
    requests: Sequence[TokenizedRequest],
    sessions: Sequence[EngineSession | None],
    options: LoopOptions,
    line: str = "",
    *,
    ended: Callable[[int, Generation], None] = lambda _place, _generation: None,
) -> list[Generation]:
    """Generate texts, as many at a time as there are sessions.

    Args:
        model: What writes.
        requests: One for each text; one that waits is begun as soon as another ends.
        sessions: Who constrains the texts under way; None leaves one unconstrained.
        options: How the loop works.
        line: Whose prompts these are: they share a prefix cache with earlier ones of
            the same line only.
        ended: Called when a text has ended, with its place among the requests.

    Returns:
        What came of each request, in their order. An engine's or the model's failure
        is an outcome; the other texts go on.

    Raises:
        WorkerDidNotStart: an engine cannot be loaded.
        Unavailable: the model's device has failed (exit 69).

    Example:
        >>> (generation,) = generate(model, [request], [None], LoopOptions())
    """
    found: dict[int, Generation] = {}

    def note(place: int, generation: Generation) -> None:
        found[place] = generation
        ended(place, generation)

    _Batch(model, sessions, options, line, note).run(requests)
    return [found[place] for place in range(len(requests))]
