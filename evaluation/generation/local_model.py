"""A model in this process that writes texts under an engine's constraint."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from curation.workers.limits import Limits
from evaluation.core.cases import Result
from evaluation.core.run_header import MOVING_FACTS
from evaluation.generation.engine_session import EngineSession, engine_sessions
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    LoopOptions,
    Model,
    TextEnding,
    TokenizedRequest,
)
from evaluation.masks.engine_worker import engine_program
from evaluation.setup.engine_files import UNCONSTRAINED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.models.transformers import TransformersModel
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

_NEVER = 1 << 40
#: Endings on which the model itself failed.
_BY_MODEL = (TextEnding.MODEL, TextEnding.LOGITS)
#: Tokens of a text for which a prompt must leave room.
_MIN_ROOM = 16


class LocalModel(Model["EngineUnderTest"]):
    """A loaded model; engines constrain it.

    Example:
        >>> model = LocalModel(loaded, lambda: tokenizer, LoopOptions())
        >>> (generation,) = model.generate([prompt], engine)
    """

    def __init__(
        self,
        model: TransformersModel,
        tokenizer: Callable[[], TokenizerFiles],
        options: LoopOptions,
        *,
        batch: int = 1,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Prepare; an engine's processes are started when first needed.

        Args:
            model: The model, loaded.
            tokenizer: Returns the model's tokenizer, as wide as its logits, which
                engines alone need.
            options: How the generation loop works.
            batch: How many texts are under way at a time.
            log: Tells people that fewer texts fit into memory than were asked for.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._options = options
        self._asked_batch = self._batch = batch
        self._say = log
        self._open = ExitStack()
        self._sessions: dict[EngineUnderTest, Sequence[EngineSession]] = {}

    def _options_under(self, constraint: EngineUnderTest) -> LoopOptions:
        if self._options.forced is not None:
            return self._options
        return replace(self._options, forced=constraint.file.about.forced_in_paper)

    def identity(self, constraint: EngineUnderTest) -> str:
        """Return the fingerprint of model, engine and loop."""
        facts = {**self._model.facts()}
        for name in MOVING_FACTS:
            facts.pop(name, None)
        options = self._options_under(constraint)
        return fingerprint(
            engine=constraint.identity,
            model=self._model.name,
            facts=facts,
            forced=options.forced,
            batch=self._asked_batch,
            seconds=[options.compile_seconds, options.run_seconds],
        )

    def generate(
        self,
        prompts: Sequence[GenerationRequest],
        constraint: EngineUnderTest,
        on_end: Callable[[int, Generation], None] = lambda _place, _generation: None,
    ) -> list[Generation]:
        """Write texts, but for those whose prompt leaves no room.

        If memory runs out, these texts and all later ones are written in batches of
        half the size. A text on which the model failed is retried once: alone, one
        token a pass. A greedy text of a batch with tied tokens is written again alone.

        Args:
            prompts: The requested texts.
            constraint: The engine; `none` constrains nothing.
            on_end: Called when a text has ended, with its place among the prompts.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        tokenized = [self._tokenize(prompt) for prompt in prompts]
        generations: dict[int, Generation] = {}

        def note(index: int, generation: Generation) -> None:
            generations[index] = generation
            on_end(index, generation)

        places = []
        for index, request in enumerate(tokenized):
            if request.budget:
                places.append(index)
                continue
            tokens = len(request.prompt)
            room = f"a context of {self._model.context_length:,}"
            none = Generation(
                id=request.id,
                result=Result.ERROR,
                ending=TextEnding.PROMPT,
                detail=f"a prompt of {tokens:,} tokens in {room}",
                prompt_tokens=tokens,
            )
            note(index, none)
        again: dict[int, Generation] = {}

        def note_first(index: int, generation: Generation) -> None:
            if generation.ending in _BY_MODEL or (
                generation.tied and not tokenized[index].temperature
            ):
                again[index] = generation
            else:
                note(index, generation)

        while places:
            places = self._write_in_batches(tokenized, places, constraint, note_first)
        for index, first in sorted(again.items()):
            alone = self._written_alone(tokenized[index], constraint, first)
            note(index, alone)
        return [generations[index] for index in range(len(tokenized))]

    def _write_in_batches(
        self,
        requests: Sequence[TokenizedRequest],
        places: Sequence[int],
        constraint: EngineUnderTest,
        note: Callable[[int, Generation], None],
    ) -> list[int]:
        """Write the texts of some places; return those without enough memory.

        The next batches are half as large then. For a text alone it is an outcome.
        """
        batch = min(self._batch, len(places))
        # The longest first: none of them is left to be written alone at the end.
        places = sorted(
            places,
            key=lambda index: -len(requests[index].prompt) - requests[index].budget,
        )
        without_memory: list[int] = []

        def note_most(position: int, generation: Generation) -> None:
            full = generation.result is Result.OUT_OF_MEMORY
            if batch > 1 and full and generation.ending is TextEnding.MODEL:
                without_memory.append(places[position])
            else:
                note(places[position], generation)

        generate(
            self._model,
            [requests[index] for index in places],
            self._sessions_for(constraint, batch),
            self._options_under(constraint),
            on_end=note_most,
        )
        if without_memory:
            self._batch = batch // 2
            self._model.forget()
            self._say(
                f"{constraint.label}: {batch} texts at a time do not fit into the "
                f"model's memory; {self._batch} from now on"
            )
        return sorted(without_memory)

    def _written_alone(
        self,
        request: TokenizedRequest,
        constraint: EngineUnderTest,
        first: Generation,
    ) -> Generation:
        """Return the text, written again alone."""
        failed = first.ending in _BY_MODEL
        options = self._options_under(constraint)
        if failed:
            self._model.forget()
            options = replace(options, forced=False)
        sessions = self._sessions_for(constraint, 1)
        (alone,) = generate(self._model, [request], sessions, options)
        if failed:
            return alone
        if alone.tokens == first.tokens and alone.ending is first.ending:
            return first
        # Its times come from a text alone: the batch has none.
        return replace(alone, ttft_ns=None, total_ns=None, steps=())

    def _tokenize(self, prompt: GenerationRequest) -> TokenizedRequest:
        tokens = self._model.prompt(prompt.messages)
        length = self._model.context_length
        room = _NEVER if length is None else length - len(tokens)
        return TokenizedRequest(
            id=prompt.record.id,
            schema=prompt.record.constraint,
            prompt=tokens,
            budget=min(prompt.budget, room) if room >= _MIN_ROOM else 0,
            temperature=prompt.temperature,
            seed=prompt.seed,
        )

    def _sessions_for(
        self, constraint: EngineUnderTest, count: int
    ) -> list[EngineSession | None]:
        if constraint.file.name == UNCONSTRAINED:
            return [None] * count
        if constraint not in self._sessions:
            tokenizer = self._tokenizer()
            sessions = engine_sessions(
                engine_program(constraint, tokenizer),
                self._asked_batch,
                vocab_size=tokenizer.vocab_size,
                limits=Limits(
                    start_seconds=self._options.load_seconds,
                    memory_mb=self._options.memory_mb,
                    recycle_after=_NEVER,
                ),
                end_tokens=self._model.end_tokens,
            )
            self._sessions[constraint] = self._open.enter_context(sessions)
        used = self._sessions[constraint][:count]
        # All load the engine at the same time, so that no text waits for it.
        for session in used:
            session.worker.launch()
        for session in used:
            session.worker.start()
        return list(used)

    def close(self) -> None:
        """End the engines' processes."""
        self._open.close()
        self._sessions.clear()
