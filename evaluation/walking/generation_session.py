"""Answer questions in an engine's process while a model writes a batch of texts.

Loaded by `engine_process.py` like `walk_session.py`. A mask is not sent but written to
a file that both sides have mapped, the masks of a batch side by side, so that a step
costs one line each way. Every question names its `text`, a place in the batch.

    {"compile": "<schema>"}     -> {"compile_ns": 1, "warnings": [], "printed": ""}
                                   or {"refusal": "why"}
    {"compile": "<schema>", "beside": true}
                                -> {"running": true}; it is compiled in a thread
    {"compiled": 0.5}           -> the answer of `compile`, or after these seconds
                                   {"running": true}
    {"open": true, "forced": 8} -> {"forced": [...]} after which a text begins
    {"take": 17, "forced": 8}   -> {"taken": true, "forced": [...]}
    {"retake": [17, 4]}         -> {"taken": true}: tokens taken before
    {"mask": true}              -> {"mask_ns": 1}
    {"mask": true, "all": [0, 2]}
                                -> the same; the masks of these texts are begun, each
                                   in a thread, where the engine declares this safe

`forced` is how many tokens may be taken beyond the one given where they are the only
way on. In a mask the bits of all `ends` tell whether the text may end. A question after
a refused compile or a token that was not taken is answered by `{"closed": true}`.
"""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Thread
from time import perf_counter_ns
from typing import TYPE_CHECKING

from evaluation.walking.engine_process import (
    compile_schema,
    freeze,
    raise_failure,
    take_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from evaluation.core.engine_protocol import Engine, Matcher
    from evaluation.walking.engine_process import (
        Answer,
        EngineSetup,
        PrintedOutput,
        Question,
    )


class _TextUnderWay:
    """One text of the batch: its grammar and its matcher."""

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
        self._thread: Thread | None = None
        #: Counts texts: a compile for an earlier one is dropped.
        self._number = 0
        self._pending_answer: Answer = {}
        #: The exception of a compile, raised where its answer is read.
        self._error: BaseException | None = None
        #: The mask begun next to other texts'.
        self._begun: Future[Answer] | None = None

    def begin_mask(self, threads: ThreadPoolExecutor) -> None:
        """Begin to compute the mask in another thread; `answer` waits for it."""
        if self._ready and self._matcher is not None:
            self._begun = threads.submit(self._mask, self._matcher)

    def answer(self, question: Question) -> Answer:
        if "compile" in question:
            return self._begin(
                question["compile"], beside=question.get("beside", False)
            )
        if "compiled" in question:
            return self._result(question["compiled"])
        if not self._ready:
            return {"closed": True}
        if "open" in question:
            self._matcher = self._engine.start(self._grammar)
            return {"forced": self._take_forced(self._matcher, question["forced"])}
        if self._matcher is None:
            return {"closed": True}
        if "take" in question:
            return self._take(self._matcher, question["take"], question["forced"])
        if "retake" in question:
            accepted = all(take_token(self._matcher, one) for one in question["retake"])
            return {"taken": accepted}
        begun, self._begun = self._begun, None
        return self._mask(self._matcher) if begun is None else begun.result()

    def _begin(self, schema: str, *, beside: bool) -> Answer:
        self._grammar = self._matcher = None
        self._ready, self._error, self._pending_answer = False, None, {}
        self._number += 1
        compiling = partial(self._compile, schema, self._number)
        self._thread = Thread(target=compiling, daemon=True)
        if beside:
            self._thread.start()
            return {"running": True}
        compiling()
        return self._result(0.0)

    def _compile(self, schema: str, number: int) -> None:
        grammar: object = None
        answer: Answer = {}
        failure = None
        try:
            grammar, answer = compile_schema(self._engine, schema)
            answer["printed"] = self._printed.take()
        except BaseException as error:  # noqa: BLE001 - raised again by `_result`
            failure = error
        if number == self._number:
            self._grammar, self._pending_answer = grammar, answer
            self._error = failure
            self._ready = failure is None and "refusal" not in answer

    def _result(self, seconds: float) -> Answer:
        thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(seconds)
            if thread.is_alive():
                return {"running": True}
        if self._error is not None:
            raise self._error
        return self._pending_answer

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
    """Return what answers, for as many texts as `setup` has masks."""
    tokenizer = setup["tokenizer"]
    tokens = tokenizer["vocab_size"]
    size = setup["mask_bytes"]
    with open(setup["masks"], "r+b") as file:  # noqa: PTH123 - pathlib is slow to import
        masks = memoryview(mmap.mmap(file.fileno(), size * setup["texts"]))
    ends = [end for end in setup.get("ends", [tokenizer["eos_id"]]) if end < tokens]
    texts = [
        _TextUnderWay(engine, printed, masks[at : at + size], (tokens + 7) // 8, ends)
        for at in range(0, len(masks), size)
    ]
    beside = min(setup["texts"], setup.get("mask_threads", 1))
    threads = None
    if beside > 1 and getattr(engine, "masks_side_by_side", False):
        # Running before `freeze`: their memory is not counted as growth.
        threads = ThreadPoolExecutor(beside)
        together = Barrier(beside)
        for waiting in [threads.submit(together.wait) for _ in range(beside)]:
            waiting.result()
    freeze()

    def answer(question: Question) -> Answer:
        if threads is not None:
            for place in question.get("all", ()):
                texts[place].begin_mask(threads)
        return texts[question["text"]].answer(question)

    return answer
