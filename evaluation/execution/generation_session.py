"""What the process of an engine answers while a model writes, one text at a time.

Loaded by `engine_process.py` like `walk_session.py`. A mask is not sent but written to
a file that both sides have mapped, so that a step costs one line each way.

    {"compile": "<schema>"}   -> {"compile_ns": 1} or {"refusal": "why"}
    {"open": true, "forced": 8} -> {"forced": [...]} after which a text begins
    {"take": 17, "forced": 8} -> {"taken": true, "forced": [...]}
    {"mask": true}            -> {"mask_ns": 1, "may_end": false}

`forced` is how many tokens may be taken beyond the one given where they are the only
way on. A question after a refused compile or a token that was not taken is answered
by `{"closed": true}`.
"""

from __future__ import annotations

import mmap
from time import perf_counter_ns
from typing import TYPE_CHECKING

from evaluation.execution.engine_process import commits, compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.core.engine_protocol import Engine, Matcher
    from evaluation.execution.engine_process import (
        Answer,
        EngineSetup,
        PrintedOutput,
        Question,
    )


class GenerationSession:
    """One engine, one grammar, one text under way."""

    def __init__(self, engine: Engine, setup: EngineSetup) -> None:
        """Map the file that masks are written to."""
        self._engine = engine
        self._size = (setup["tokenizer"]["vocab_size"] + 7) // 8
        with open(setup["mask"], "r+b") as file:  # noqa: PTH123 - pathlib is slow to import
            self._shared = mmap.mmap(file.fileno(), self._size)
        self._grammar: object = None
        self._matcher: Matcher | None = None
        self._ready = False

    def answer(self, question: Question) -> Answer:
        """Answer one question."""
        if "compile" in question:
            return self._compile(question["compile"])
        if not self._ready:
            return {"closed": True}
        if "open" in question:
            self._matcher = self._engine.start(self._grammar)
            return {"forced": self._take_forced(self._matcher, question["forced"])}
        if self._matcher is None:
            return {"closed": True}
        if "take" in question:
            return self._take(self._matcher, question["take"], question["forced"])
        return self._mask(self._matcher)

    def _compile(self, schema: str) -> Answer:
        self._grammar = self._matcher = None
        self._ready = False
        self._grammar, found = compile_schema(self._engine, schema)
        self._ready = "refusal" not in found
        return found

    def _take(self, matcher: Matcher, token: int, most: int) -> Answer:
        if not commits(matcher.commit, token):
            self._ready = False
            return {"taken": False, "forced": []}
        forced = self._take_forced(matcher, most)
        return {"taken": self._ready, "forced": forced}

    def _take_forced(self, matcher: Matcher, most: int) -> list[int]:
        """Commit what is the only way on; closed if the engine refuses its own."""
        ask = getattr(matcher, "forced", None) if most else None
        taken: list[int] = []
        for token in ((ask() or [])[:most]) if ask is not None else ():
            if not commits(matcher.commit, token):
                self._ready = False
                break
            taken.append(token)
        return taken

    def _mask(self, matcher: Matcher) -> Answer:
        start = perf_counter_ns()
        mask = matcher.mask()
        took = perf_counter_ns() - start
        view = memoryview(mask).cast("B")
        if len(view) < self._size:
            message = f"a mask of {len(view)} bytes where {self._size} are needed"
            raise ValueError(message)
        self._shared[:] = view[: self._size]
        return {"mask_ns": took, "may_end": bool(matcher.may_end())}


def open_session(
    engine: Engine, setup: EngineSetup, _printed: PrintedOutput
) -> Callable[[Question], Answer]:
    """Return what answers; what is printed stays in the file."""
    return GenerationSession(engine, setup).answer
