"""Answer questions in an engine's process: compile a schema, walk texts through masks.

Loaded by `engine_process.py` in the engine's own environment: of csbdata nothing but
that file can be imported. Two questions make a case:

    {"compile": "<schema>"}              -> {"compile_ns": 1, ...} or {"refusal": "why"}
    {"walks": [[tokens], ...], "texts": ["...", ...], "seconds": 40.0,
     "wall_seconds": 160.0}
                                         -> {"walks": [...], "first_mask_ns": 1, ...}

What was printed during a question comes back as `printed` with its answer.
"""

from __future__ import annotations

import contextlib
import gc
from time import perf_counter_ns
from typing import TYPE_CHECKING

from evaluation.walking.engine_process import (
    CoreWaits,
    Deadline,
    calibration_ns,
    compile_schema,
    describe_error,
    encodable,
    engine_warnings,
    error_of,
    freeze,
    interruptions,
    resident_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.core.engine_protocol import Engine, Matcher
    from evaluation.walking.engine_process import (
        Answer,
        EngineSetup,
        PrintedOutput,
        Question,
    )

_ACCEPTED, _BLOCKED, _UNFINISHED, _LIED, _MASK_GAP, _ENGINE_ERROR, _NOT_RUN = (
    "accepted",
    "blocked",
    "unfinished",
    "lied",
    "mask_gap",
    "engine_error",
    "not_run",
)
#: Characters that are kept of what an engine says went wrong.
_MOST_SAID = 500
#: What is compiled and walked before anything is timed, and for how many masks.
_WARM_SCHEMA = '{"type": "object", "properties": {"a": {"type": "string"}}}'
_WARM_MASKS = 16
_UNSPELT = "no tokens of this vocabulary spell it"
#: Masks whose items are bytes as they are.
_BYTES = (bytearray, bytes)


class WalkSession:
    """One engine, and the grammar that it compiled last."""

    def __init__(
        self, engine: Engine, setup: EngineSetup, printed: PrintedOutput
    ) -> None:
        """Take the engine that `load` returned."""
        self._engine = engine
        self._printed = printed
        self._mask_bytes = (setup["tokenizer"]["vocab_size"] + 7) // 8
        #: Whether a token outside the mask may be offered to `commit`.
        self._checks_commit = setup["checks_commit"]
        #: The token of each single byte; -1 where there is none.
        self._byte_ids = setup.get("byte_ids", [])
        self._grammar: object = None
        self._compiled = False
        self._warm = False
        self._waits = CoreWaits()

    def _warm_up(self) -> None:
        """Run everything that happens once per process before anything is timed.

        Masks are computed along the first allowed token each time; failures are
        ignored.
        """
        self._warm = True
        with contextlib.suppress(Exception):
            matcher = self._engine.start(self._engine.compile(_WARM_SCHEMA))
            for _ in range(_WARM_MASKS):
                token = _first_allowed(matcher.mask(), 8 * self._mask_bytes)
                if token is None or not matcher.commit(token):
                    break
                matcher.may_end()
        for _ in range(_WARM_MASKS):
            calibration_ns()
        self._printed.take()
        freeze()

    def answer(self, question: Question) -> Answer:
        """Answer one question; adds what was printed, memory and quiet."""
        if question.get("warm_up") and not self._warm:
            self._warm_up()
        before = interruptions()
        if "compile" in question:
            answer = self._compile(question["compile"])
        else:
            answer = self._walk_all(question)
        after = interruptions()
        answer["quiet"] = None if before is None else before == after
        answer["printed"] = self._printed.take()
        answer["printed_too_much"] = self._printed.too_much
        answer["rss_bytes"] = resident_bytes()
        return answer

    def _compile(self, schema: str) -> Answer:
        self._grammar, self._compiled = None, False
        calibration = calibration_ns()
        self._grammar, answer = compile_schema(self._engine, schema, self._waits)
        answer["calibration_ns"] = calibration
        self._compiled = "refusal" not in answer
        if self._compiled:
            answer["warnings"] = engine_warnings(self._engine, self._grammar)
        return answer

    def _walk_all(self, question: Question) -> Answer:
        if not self._compiled:
            return {"walks": []}
        deadline = Deadline(question["seconds"], question["wall_seconds"], self._waits)
        texts = question["walks"]
        walks: list[list[object]] = [
            [_NOT_RUN, None, [], [], None, _UNSPELT if tokens is None else "", None]
            for tokens in texts
        ]
        first, late = None, False
        counted = question.get("forced") or [True] * len(texts)
        spelled = question.get("texts") or [None] * len(texts)
        for place in question.get("order") or range(len(texts)):
            if texts[place] is None:
                continue
            if late:
                break
            walk = _Walk(
                texts[place],
                self._mask_bytes,
                deadline,
                self._checks_commit,
                counted[place],
            )
            self._waits.since_last()
            walk.run(self._engine, self._grammar)
            first = walk.first_ns if first is None else first
            late = walk.late
            waited = self._waits.since_last()
            byte = None if late else self._refused_byte(walk, spelled[place])
            walks[place] = [*walk.result(), waited, byte]
        return {
            "walks": walks,
            "first_mask_ns": first,
            "late": deadline.passed if late else "",
            "by_wall_clock": late and deadline.by_wall_clock,
            "for_want_of_core": late and deadline.for_want_of_core,
        }

    def _refused_byte(self, walk: _Walk, text: str | None) -> int | None:
        """Return how many bytes of a blocked text its grammar takes, one at a time.

        None if it was not blocked, or that cannot be found out.
        """
        if walk.verdict != _BLOCKED or text is None:
            return None
        taken = 0
        with contextlib.suppress(Exception):
            matcher = self._engine.start(self._grammar)
            take = getattr(matcher, "takes", matcher.commit)
            for byte in text.encode():
                now = perf_counter_ns()
                if now > walk.deadline.next_look and walk.deadline.look(now):
                    return None
                token = self._byte_ids[byte]
                if token < 0 or (
                    not self._checks_commit and not _holds(matcher.mask(), token)
                ):
                    break
                if not _takes(take, token):
                    break
                taken += 1
        return taken


class _Walk:
    """One text on its way through the masks."""

    def __init__(
        self,
        tokens: Sequence[int],
        mask_bytes: int,
        deadline: Deadline,
        checks: bool,  # noqa: FBT001 (made in one place)
        counts_forced: bool,  # noqa: FBT001 (as above)
    ) -> None:
        self.tokens, self.mask_bytes = tokens, mask_bytes
        self.deadline = deadline
        self.checks, self.counts_forced = checks, counts_forced
        self.verdict, self.detail, self.late = _ACCEPTED, "", False
        self.at: int | None = None
        self.mask_ns: list[int] = []
        self.commit_ns: list[int] = []
        self.forced: int | None = None
        self.first_ns: int | None = None

    def result(self) -> list[object]:
        """Return what is answered of it; see `WalkedText`."""
        return [
            self.verdict,
            self.at,
            self.mask_ns,
            self.commit_ns,
            self.forced,
            self.detail,
        ]

    def run(self, engine: Engine, grammar: object) -> None:
        """Walk; what the engine raises is how it has failed."""
        try:
            self._walk(engine, grammar)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of native code is none of Exception
            self._stop(_ENGINE_ERROR, len(self.commit_ns), describe_error(error))

    def _walk(self, engine: Engine, grammar: object) -> None:
        start = perf_counter_ns()
        matcher = engine.start(grammar)
        making_ns = perf_counter_ns() - start
        if not self._walk_tokens(matcher, making_ns):
            return
        may_end = matcher.may_end()
        if failure := error_of(matcher)():
            self._fail(len(self.tokens), failure)
        elif not may_end:
            self.verdict = _UNFINISHED

    def _walk_tokens(self, matcher: Matcher, making_ns: int) -> bool:
        """Return whether every token was in its mask and was accepted.

        Each line of this loop costs once a token, beside masks of a few microseconds.
        """
        mask_of, commit, failure_of = matcher.mask, matcher.commit, error_of(matcher)
        forced_of = getattr(matcher, "forced", None) if self.counts_forced else None
        self.forced = None if forced_of is None else 0
        ahead: list[int] = []
        clock, deadline, mask_bytes = perf_counter_ns, self.deadline, self.mask_bytes
        note_mask, note_commit = self.mask_ns.append, self.commit_ns.append
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
                self._stop(_NOT_RUN, index, "no time left", late=True)
                return False
            if type(mask) not in _BYTES:
                mask = memoryview(mask).cast("B")
            if len(mask) < mask_bytes:
                self._too_small(len(mask), index)
                return False
            if forced_of is not None:
                ahead = self._count_forced(ahead or forced_of(), token)
            if not mask[token >> 3] >> (token & 7) & 1:
                self._refused(matcher, index)
                return False
            start = clock()
            accepted = commit(token)
            note_commit(clock() - start)
            failure = failure_of()
            if failure or not accepted:
                self._not_taken(matcher, index, failure)
                return False
        return True

    def _not_taken(self, matcher: Matcher, index: int, failure: str) -> None:
        """Book a token that was in its mask."""
        if failure:
            self._fail(index, failure)
            return
        what = f"token {self.tokens[index]} is in the mask, and commit refuses it"
        self._stop(_LIED, index, what + refusal_reason(matcher))

    def _too_small(self, size: int, index: int) -> None:
        """Book a mask that does not cover the vocabulary."""
        what = f"a mask of {size} bytes where {self.mask_bytes} are needed"
        self._stop(_LIED, index, what)

    def _count_forced(self, ahead: Sequence[int] | None, token: int) -> list[int]:
        """Count the token if it is the only way on; return what is forced after it."""
        if ahead is None or self.forced is None:
            self.forced = None
            return []
        if not ahead or ahead[0] != token:
            return []
        self.forced += 1
        return list(ahead[1:])

    def _refused(self, matcher: Matcher, index: int) -> None:
        """Record a token that is not in its mask; check whether commit disagrees.

        An engine may mask one tokenization of a forced text and accept others, so its
        mask misses a token only if commits alone accept the whole text.
        """
        self._stop(_BLOCKED, index, "")
        if not self.checks:
            return
        take = getattr(matcher, "takes", matcher.commit)
        for place in range(index, len(self.tokens)):
            now = perf_counter_ns()
            if now > self.deadline.next_look and self.deadline.look(now):
                return
            if not _takes(take, self.tokens[place]):
                if place > index:
                    self.detail = f"commit refuses only token {place}"
                return
        what = f"token {self.tokens[index]} is not in the mask, and commit takes it"
        if matcher.may_end():
            self._stop(_MASK_GAP, index, f"{what} and all behind it")

    def _stop(self, verdict: str, index: int, what: str, *, late: bool = False) -> None:
        self.verdict, self.at, self.detail, self.late = verdict, index, what, late

    def _fail(self, index: int, what: object) -> None:
        """Book what the engine says of itself: the first line of it."""
        line = str(what).partition("\n")[0].strip()[:_MOST_SAID]
        self._stop(_ENGINE_ERROR, index, encodable(line))


def _takes(take: Callable[[int], bool], token: int) -> bool:
    """Return whether a token that no mask has is taken; it may be refused anyhow."""
    try:
        return bool(take(token))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # noqa: BLE001 - as above
        return False


def refusal_reason(matcher: Matcher) -> str:
    """Return why the last commit was refused, if the engine says so: one line."""
    ask = getattr(matcher, "reason", None)
    if ask is None:
        return ""
    try:
        line = str(ask() or "").partition("\n")[0].strip()
        text = encodable(line[:_MOST_SAID])
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        text = describe_error(error)
    return f": {text}" if text else ""


def _holds(mask: bytes | bytearray | memoryview, token: int) -> bool:
    """Return whether a token is in a mask."""
    return bool(memoryview(mask).cast("B")[token >> 3] >> (token & 7) & 1)


def _first_allowed(mask: bytes | bytearray | memoryview, tokens: int) -> int | None:
    """Return the first token of a mask; None of an empty one."""
    view = memoryview(mask).cast("B")
    for place, byte in enumerate(view[: tokens // 8]):
        if byte:
            return 8 * place + (byte & -byte).bit_length() - 1
    return None


def open_session(
    engine: Engine, setup: EngineSetup, printed: PrintedOutput
) -> Callable[[Question], Answer]:
    """Return what answers; from here on nothing is collected but between cases."""
    session = WalkSession(engine, setup, printed)
    gc.disable()
    freeze()
    return session.answer
