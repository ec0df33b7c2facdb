"""A model in this process that writes texts under one engine's constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.core.cases import Result
from evaluation.execution.engine_worker import ONE_THREAD, tokenizer_setup
from evaluation.generation.engine_session import EngineSession
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    Generation,
    LoopOptions,
    TextEnding,
    TokenizedRequest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.generation.requests import GenerationRequest
    from evaluation.models.base import LanguageModel
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: The name of the engine that constrains nothing.
UNCONSTRAINED = "none"
_NEVER = 1 << 40
#: Tokens of a text for which a prompt must leave room.
_LEAST_ROOM = 16


class LocalWriter:
    """One engine over one model, with one engine process for each text of a batch."""

    def __init__(
        self,
        model: LanguageModel,
        engine: EngineUnderTest,
        tokenizer: TokenizerFiles,
        options: LoopOptions,
        *,
        memory_mb: int = 4096,
    ) -> None:
        """Prepare; the engine's processes are started when first needed.

        Args:
            model: The model, loaded.
            engine: The engine that constrains it; `none` constrains nothing.
            tokenizer: The model's tokenizer, as wide as its logits.
            options: How the generation loop works.
            memory_mb: What an engine's process may take once it is ready, in MiB.
        """
        self._model = model
        self._engine = engine
        self._tokenizer = tokenizer
        self._options = options
        self._memory_mb = memory_mb
        self._sessions: list[EngineSession] = []
        self.label = engine.label
        self.identity = fingerprint(
            engine=engine.identity,
            model=model.name,
            facts=dict(model.facts()),
            tokenizer=tokenizer.digest,
            overlap=[options.overlap_compile, options.overlap_mask],
            forced=options.forced,
            seconds=[options.compile_seconds, options.run_seconds],
        )

    @property
    def constrains(self) -> bool:
        """Whether there is an engine at all."""
        return self._engine.file.name != UNCONSTRAINED

    def write(self, requests: Sequence[GenerationRequest]) -> list[Generation]:
        """Write a batch of texts, but for those whose prompt leaves no room.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        tokenized = [self._tokenize(request) for request in requests]
        fitting = [request for request in tokenized if request.budget >= 1]
        written = iter(
            generate(
                self._model,
                fitting,
                self._sessions_for(len(fitting)),
                self._options,
                self.identity,
            )
            if fitting
            else ()
        )
        return [
            next(written) if request.budget >= 1 else self._no_room(request)
            for request in tokenized
        ]

    def _tokenize(self, request: GenerationRequest) -> TokenizedRequest:
        prompt = self._model.prompt(request.messages)
        room = self._model.context_length - len(prompt)
        return TokenizedRequest(
            id=request.sample.id,
            schema=request.sample.schema,
            prompt=prompt,
            budget=min(request.budget, room) if room >= _LEAST_ROOM else 0,
            temperature=request.temperature,
            seed=request.seed,
        )

    def _no_room(self, request: TokenizedRequest) -> Generation:
        detail = (
            f"a prompt of {len(request.prompt):,} tokens in a context of "
            f"{self._model.context_length:,}"
        )
        return Generation(
            id=request.id,
            result=Result.ERROR,
            ending=TextEnding.PROMPT,
            detail=detail,
            prompt_tokens=len(request.prompt),
        )

    def _sessions_for(self, count: int) -> list[EngineSession | None]:
        if not self.constrains:
            return [None] * count
        while len(self._sessions) < count:
            session = EngineSession(
                self._program(),
                vocab_size=self._tokenizer.vocab_size,
                limits=Limits(
                    start_seconds=180.0,
                    memory_mb=self._memory_mb,
                    recycle_after=_NEVER,
                ),
            )
            session.start()
            self._sessions.append(session)
        return list(self._sessions[:count])

    def _program(self) -> Program:
        engine = self._engine
        return Program(
            file=engine.file.path,
            setup={
                "engine": str(engine.file.path),
                "options": dict(engine.options),
                "tokenizer": tokenizer_setup(self._tokenizer),
            },
            interpreter=engine.interpreter,
            environment=ONE_THREAD,
        )

    def close(self) -> None:
        """End the engines' processes."""
        for session in self._sessions:
            session.close()
        self._sessions = []
