"""Answer questions in an engine's process while a model writes a text.

Loaded by `engine_process.py` like `walk_session.py`. A mask is not sent but written to
a file that both sides have mapped, where each text of a batch has a row, so that a step
costs one line each way.

    {"compile": "<schema>"}     -> {"compile_ns": 1, "warnings": [], "printed": ""}
                                   or {"refusal": "why"}
    {"open": true, "forced": 8} -> {"forced": [...]} after which a text begins
    {"take": 17, "forced": 8}   -> {"taken": true, "forced": [...]}
    {"mask": true}              -> {"mask_ns": 1}

`forced` is how many tokens may be taken beyond the one given where they are the only
way on. In a mask the bits of all `ends` tell whether the text may end. A question after
a refused compile or a token that was not taken is answered by `{"closed": true}`.
"""

from __future__ import annotations

import mmap
from time import perf_counter_ns
from typing import TYPE_CHECKING

from evaluation.masks.engine_process import (
    compile_schema,
    freeze,
    raise_failure,
    take_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.core.engine_protocol import Engine, Matcher
    from evaluation.masks.engine_process import (
        Answer,
        EngineSetup,
        PrintedOutput,
        Question,
    )


class _TextUnderWay:
    """One text: its grammar and its matcher."""

    def __init__(
        self,
        engine: Engine,
        printed: PrintedOutput,
        mask: memoryview,
        least: int,
        ends: list[int],
    ) -> None:
        self._engine = engine
        self._printed = printed
        #: Where its mask is written, and the bytes that it has at least.
        self._row, self._least = mask, least
        #: Byte and bit of each token that ends a text.
        self._ends = [(token >> 3, 1 << (token & 7)) for token in ends]
        self._grammar: object = None
        self._matcher: Matcher | None = None
        self._ready = False

    def answer(self, question: Question) -> Answer:
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
        self._grammar, answer = compile_schema(self._engine, schema)
        answer["printed"] = self._printed.take()
        self._ready = "refusal" not in answer
        return answer

    def _take(self, matcher: Matcher, token: int, most: int) -> Answer:
        if not take_token(matcher, token):
            self._ready = False
            return {"taken": False, "forced": []}
        forced = self._take_forced(matcher, most)
        return {"taken": self._ready, "forced": forced}

    def _take_forced(self, matcher: Matcher, most: int) -> list[int]:
        """Commit the only continuation; closed if the engine refuses it."""
        ask = getattr(matcher, "forced", None) if most else None
        forced: list[int] = []
        for token in ((ask() or [])[:most]) if ask is not None else ():
            if not take_token(matcher, token):
                self._ready = False
                break
            forced.append(token)
        return forced

    def _mask(self, matcher: Matcher) -> Answer:
        start = perf_counter_ns()
        mask = matcher.mask()
        took = perf_counter_ns() - start
        raise_failure(matcher)
        view = memoryview(mask).cast("B")
        if len(view) < self._least:
            message = f"a mask of {len(view)} bytes where {self._least} are needed"
            raise ValueError(message)
        length = min(len(view), len(self._row))
        self._row[:length] = view[:length]
        may_end = matcher.may_end()
        for place, bit in self._ends:
            byte = self._row[place]
            self._row[place] = byte | bit if may_end else byte & ~bit
        return {"mask_ns": took}


def open_session(
    engine: Engine, setup: EngineSetup, printed: PrintedOutput
) -> Callable[[Question], Answer]:
    """Return what answers the questions about a text."""
    tokenizer = setup["tokenizer"]
    tokens = tokenizer["vocab_size"]
    begin = setup["row"] * setup["mask_bytes"]
    end = begin + setup["mask_bytes"]
    with open(setup["masks"], "r+b") as file:  # noqa: PTH123 - pathlib is slow to import
        mask = memoryview(mmap.mmap(file.fileno(), end))[begin:]
    ends = [end for end in setup.get("ends", [tokenizer["eos_id"]]) if end < tokens]
    text = _TextUnderWay(engine, printed, mask, (tokens + 7) // 8, ends)
    freeze()
    return text.answer
