"""Answer questions in an engine's process: compile a schema, walk texts through masks.

Loaded by `engine_process.py` in the engine's own environment: of csbdata nothing but
that file can be imported. Two questions make a case:

    {"compile": "<schema>"}              -> {"compile_ns": 1, ...} or {"refusal": "why"}
    {"walks": [TEXT, ...], "seconds": 40.0, "wall_seconds": 160.0}
                                         -> {"walks": [RECORD, ...], ...}

A TEXT is a `TextToWalk`, a RECORD a `WalkRecord`. What was printed during a question
comes back as `printed` with its answer.
"""

from __future__ import annotations

import contextlib
import gc
from time import perf_counter_ns
from typing import TYPE_CHECKING, TypedDict

from evaluation.masks.engine_process import (
    CoreWaits,
    Deadline,
    calibration_ns,
    compile_schema,
    describe_error,
    encodable,
    error_reader,
    freeze,
    interruptions,
    resident_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.engine_protocol import Engine, Matcher
    from evaluation.masks.engine_process import (
        Answer,
        EngineSetup,
        PrintedOutput,
        Question,
    )

    class TextToWalk(TypedDict):
        """One text."""

        #: None where no tokens spell it.
        tokens: list[int] | None
        #: A valid text itself: where it is blocked, the byte is looked for.
        text: str | None
        counts_forced: bool
        #: Whether it is walked after the others.
        last: bool


class WalkRecord(TypedDict):
    """The record of one walk: `WalkedText` in the parent."""

    verdict: str
    at: int | None
    mask_ns: list[int]
    commit_ns: list[int]
    forced: int | None
    detail: str
    waited_ns: int | None
    byte: int | None


#: Characters kept of an engine's message.
_MAX_MESSAGE = 500
#: Compiled and walked before anything is timed, and for how many masks.
_WARM_SCHEMA = '{"type": "object", "properties": {"a": {"type": "string"}}}'
_WARM_MASKS = 16
#: Masks whose items are bytes as they are.
_BYTES = (bytearray, bytes)


class WalkSession:
    """One engine, and the grammar that it compiled last."""

    def __init__(
        self, engine: Engine, setup: EngineSetup, printed: PrintedOutput
    ) -> None:
        """Take the engine that `load` returned."""
        self.engine = engine
        self._printed = printed
        self.mask_bytes = (setup["tokenizer"]["vocab_size"] + 7) // 8
        #: Whether a token outside the mask may be offered to `commit`.
        self.checks_commit = setup["checks_commit"]
        #: The token of each single byte; -1 without one.
        self.byte_ids = setup.get("byte_ids", [])
        self.grammar: object = None
        self._compiled = False
        self._warm = False
        self.waits = CoreWaits()

    def _warm_up(self) -> None:
        """Run everything that happens once per process before anything is timed.

        Masks are computed along the first allowed token each time; failures are
        ignored.
        """
        self._warm = True
        with contextlib.suppress(Exception):
            matcher = self.engine.start(self.engine.compile(_WARM_SCHEMA))
            for _ in range(_WARM_MASKS):
                mask = matcher.mask()
                tokens = range(8 * self.mask_bytes)
                token = next(token for token in tokens if _holds(mask, token))
                if not matcher.commit(token):
                    break
                matcher.may_end()
        for _ in range(_WARM_MASKS):
            calibration_ns()
        self._printed.take()
        freeze()

    def answer(self, question: Question) -> Answer:
        """Answer one question; adds output, memory and quiet."""
        if question.get("warm_up") and not self._warm:
            self._warm_up()
        before = interruptions()
        if "compile" in question:
            answer = self._compile(question["compile"])
        else:
            answer = self._walk_all(question)
        answer["quiet"] = None if before is None else before == interruptions()
        answer["printed"] = self._printed.take()
        answer["printed_too_much"] = self._printed.too_much
        answer["rss_bytes"] = resident_bytes()
        return answer

    def _compile(self, schema: str) -> Answer:
        self.grammar, self._compiled = None, False
        calibration = calibration_ns()
        self.grammar, answer = compile_schema(self.engine, schema, self.waits)
        answer["calibration_ns"] = calibration
        self._compiled = "refusal" not in answer
        return answer

    def _walk_all(self, question: Question) -> Answer:
        if not self._compiled:
            return {"walks": []}
        deadline = Deadline(question["seconds"], question["wall_seconds"], self.waits)
        walks = [_Walk(text, self, deadline) for text in question["walks"]]
        first, late = None, False
        for walk in sorted(walks, key=lambda walk: walk.text["last"]):
            if walk.text["tokens"] is None or late:
                continue
            walk.run()
            first = walk.first_ns if first is None else first
            late = walk.late
        return {
            "walks": [walk.record for walk in walks],
            "first_mask_ns": first,
            "late": deadline.passed if late else "",
            "by_wall_clock": late and deadline.by_wall_clock,
            "for_want_of_core": late and deadline.for_want_of_core,
        }


class _Walk:
    """One text on its way through the masks."""

    def __init__(
        self, text: TextToWalk, session: WalkSession, deadline: Deadline
    ) -> None:
        self.text, self.session, self.deadline = text, session, deadline
        self.tokens: Sequence[int] = text["tokens"] or ()
        unspelt = text["tokens"] is None
        self.record = WalkRecord(
            verdict="not_run",
            at=None,
            mask_ns=[],
            commit_ns=[],
            forced=None,
            detail="no tokens of this vocabulary spell it" if unspelt else "",
            waited_ns=None,
            byte=None,
        )
        #: Whether the deadline ended it.
        self.late = False
        self.first_ns: int | None = None

    def run(self) -> None:
        """Walk; an engine's exception is its failure."""
        waits = self.session.waits
        waits.since_last()
        try:
            self.record["verdict"] = "accepted"
            self._walk()
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # noqa: BLE001 - a native panic is not an Exception
            index = len(self.record["commit_ns"])
            self._stop("engine_error", index, describe_error(error))
        self.record["waited_ns"] = waits.since_last()
        if self.record["verdict"] == "blocked" and self.text["text"] is not None:
            self.record["byte"] = self._refused_byte(self.text["text"])

    def _walk(self) -> None:
        start = perf_counter_ns()
        matcher = self.session.engine.start(self.session.grammar)
        making_ns = perf_counter_ns() - start
        if not self._walk_tokens(matcher, making_ns):
            return
        may_end = matcher.may_end()
        if failure := error_reader(matcher)():
            self._fail(len(self.tokens), failure)
        elif not may_end:
            self.record["verdict"] = "unfinished"

    def _walk_tokens(self, matcher: Matcher, making_ns: int) -> bool:
        """Return whether every token was in its mask and was accepted.

        Each line of this loop costs once a token, next to masks of a few microseconds.
        """
        mask_of, commit, failure_of = (
            matcher.mask,
            matcher.commit,
            error_reader(matcher),
        )
        counted = self.text["counts_forced"]
        forced_of = getattr(matcher, "forced", None) if counted else None
        self.record["forced"] = None if forced_of is None else 0
        ahead: Sequence[int] = ()
        clock, deadline = perf_counter_ns, self.deadline
        mask_bytes = self.session.mask_bytes
        note_mask = self.record["mask_ns"].append
        note_commit = self.record["commit_ns"].append
        for index, token in enumerate(self.tokens):
            start = clock()
            mask = mask_of()
            end = clock()
            note_mask(end - start)
            if not index:
                self.first_ns = making_ns + end - start
            if failure := failure_of():
                self._fail(index, failure)
                return False
            if end > deadline.next_look and deadline.look(end):
                self._stop("not_run", index, "no time left")
                self.late = True
                return False
            if type(mask) not in _BYTES:
                mask = _mask_bytes(mask)
            if len(mask) < mask_bytes:
                message = f"a mask of {len(mask)} bytes where {mask_bytes} are needed"
                self._stop("lied", index, message)
                return False
            if forced_of is not None:
                ahead = self._count_forced(ahead or forced_of(), token)
            if not mask[token >> 3] >> (token & 7) & 1:
                self._refused(matcher, index)
                return False
            start = clock()
            accepted: object = commit(token)
            note_commit(clock() - start)
            failure = failure_of()
            if failure or not accepted:
                verb = "returns None" if accepted is None else "refuses it"
                self._not_taken(matcher, index, failure, verb)
                return False
        return True

    def _not_taken(self, matcher: Matcher, index: int, failure: str, verb: str) -> None:
        """Record a token that was in its mask."""
        if failure:
            self._fail(index, failure)
            return
        message = f"token {self.tokens[index]} is in the mask, and commit {verb}"
        self._stop("lied", index, message + refusal_reason(matcher))

    def _count_forced(self, ahead: Sequence[int] | None, token: int) -> Sequence[int]:
        """Count the token if it was forced; return the tokens forced after it."""
        if ahead is None or self.record["forced"] is None:
            self.record["forced"] = None
            return ()
        if not ahead or ahead[0] != token:
            return ()
        self.record["forced"] += 1
        return list(ahead[1:])

    def _refused(self, matcher: Matcher, index: int) -> None:
        """Record a token that is not in its mask; check whether commit disagrees.

        An engine may mask one tokenization of a forced text and accept others, so its
        mask misses a token only if commits alone accept the whole text.
        """
        self._stop("blocked", index, "")
        if not self.session.checks_commit:
            return
        for number, token in enumerate(self.tokens[index:]):
            if self._is_late():
                return
            if not _takes(matcher, token):
                if number:
                    detail = f"commit refuses only token {index + number}"
                    self.record["detail"] = detail
                return
        message = f"token {self.tokens[index]} is not in the mask, and commit takes it"
        if matcher.may_end():
            self._stop("mask_gap", index, f"{message} and all behind it")

    def _refused_byte(self, text: str) -> int | None:
        """Return how many bytes of the text its grammar takes, one at a time.

        None if that cannot be found out.
        """
        taken = 0
        with contextlib.suppress(Exception):
            matcher = self.session.engine.start(self.session.grammar)
            for byte in text.encode():
                if self._is_late():
                    return None
                token = self.session.byte_ids[byte]
                if token < 0 or not (
                    self.session.checks_commit or _holds(matcher.mask(), token)
                ):
                    break
                if not _takes(matcher, token):
                    break
                taken += 1
        return taken

    def _is_late(self) -> bool:
        now = perf_counter_ns()
        return now > self.deadline.next_look and self.deadline.look(now)

    def _stop(self, verdict: str, index: int, detail: str) -> None:
        self.record.update({"verdict": verdict, "at": index, "detail": detail})

    def _fail(self, index: int, message: object) -> None:
        self._stop("engine_error", index, _first_line(message))


def _takes(matcher: Matcher, token: int) -> bool:
    """Return whether a token that no mask has is taken; it may be refused anyhow."""
    try:
        return bool(getattr(matcher, "takes", matcher.commit)(token))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # noqa: BLE001 - as above
        return False


def refusal_reason(matcher: Matcher) -> str:
    """Return why the last commit was refused, if the engine reports it: one line."""
    try:
        text = _first_line(getattr(matcher, "reason", str)() or "")
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        text = describe_error(error)
    return f": {text}" if text else ""


def _first_line(message: object) -> str:
    return encodable(str(message).partition("\n")[0].strip()[:_MAX_MESSAGE])


def _mask_bytes(mask: object) -> memoryview:
    """Return a mask as bytes.

    Raises:
        TypeError: it has none.
    """
    try:
        return memoryview(mask).cast("B")  # type: ignore[arg-type]  # an engine returns anything
    except TypeError as error:
        message = f"mask() returned {type(mask).__name__}, not its bytes"
        raise TypeError(message) from error


def _holds(mask: bytes | bytearray | memoryview, token: int) -> bool:
    """Return whether a token is in a mask."""
    return bool(memoryview(mask).cast("B")[token >> 3] >> (token & 7) & 1)


def open_session(
    engine: Engine, setup: EngineSetup, printed: PrintedOutput
) -> Callable[[Question], Answer]:
    """Return what answers; from here on nothing is collected but between cases."""
    session = WalkSession(engine, setup, printed)
    gc.disable()
    freeze()
    return session.answer
