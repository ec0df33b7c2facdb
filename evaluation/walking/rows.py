"""Turn the answers of a worker into one row, also where the worker has died.

An answer is checked against its type: an engine shares the worker's process, so an
answer may be anything.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import msgspec

from curation.core.json_types import Json
from curation.workers.outcomes import Ending, ProcessResult
from evaluation.core.cases import (
    Case,
    InstanceResult,
    InstanceWalk,
    Result,
    Row,
    WalkVerdict,
    Whole,
)
from evaluation.walking.engine_process import MOST_PRINTED_BYTES
from evaluation.walking.why import why_of

#: What an ending of the engine's process is to a case.
RESULTS: Final = {
    Ending.TIMEOUT: Result.TIMEOUT,
    Ending.CRASH: Result.CRASH,
    Ending.OUT_OF_MEMORY: Result.OUT_OF_MEMORY,
    Ending.ERROR: Result.ENGINE_ERROR,
    Ending.PROTOCOL: Result.PROTOCOL_ERROR,
}
_COMPILE, _WALK = "compile", "walk"
_MOST_WARNINGS: Final = 50
#: As the logs of native code begin; rows are the same whenever they are made.
_CLOCK: Final = re.compile(r"^\[\d\d:\d\d:\d\d\] ")
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


class WorkerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer of `walk_session.py` says beside what was asked."""

    #: Whether nothing else was given the worker's core.
    quiet: bool | None = None
    #: What the engine printed meanwhile.
    printed: str = ""
    #: Whether it printed as much as it may.
    printed_too_much: bool = False
    rss_bytes: Whole | None = None


class CompileAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `compile`: how long it took, or why the schema is refused."""

    compile_ns: Whole | None = None
    #: Nanoseconds of it in which the process waited for its core.
    waited_ns: Whole | None = None
    #: Processor time of the calibration work, just before.
    calibration_ns: Whole | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


class WalkedText(msgspec.Struct, frozen=True, array_like=True):
    """One walk in the answer to `walks`; a list on the wire."""

    verdict: WalkVerdict
    at: Whole | None
    mask_ns: tuple[Whole, ...]
    commit_ns: tuple[Whole, ...]
    forced: Whole | None
    detail: str
    waited_ns: Whole | None = None
    #: Bytes of a valid text that the grammar takes, if it was blocked.
    byte: Whole | None = None


class WalkAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `walks`."""

    #: Of all walks, in order; not run are those that were not reached.
    walks: tuple[WalkedText, ...] = ()
    first_mask_ns: Whole | None = None
    #: Says so where the deadline ended the walks.
    late: str = ""
    #: Whether that was the wall clock's.
    by_wall_clock: bool = False
    #: Whether it was, since the process waited for a core.
    for_want_of_core: bool = False


A = TypeVar("A", bound=WorkerAnswer)


def build_row(  # noqa: PLR0913, PLR0917 (what a row is made of)
    engine: str,
    case: Case,
    tokens: Sequence[Sequence[int] | None],
    answers: Sequence[Json],
    end: ProcessResult | None,
    fingerprint: str,
    *,
    printed_too_much: bool = False,
) -> Row:
    """Return the row of one case.

    Args:
        engine: what rows call the engine.
        case: what was asked.
        tokens: the tokens of each walk's text; None where none spell it.
        answers: the worker's answers to compile and walk, as far as they came; None
            for a question that has no answer.
        end: how the process ended at the question that has no answer.
        fingerprint: of everything that decides the row.
        printed_too_much: whether its process was ended for what it printed.
    """
    try:
        compiled = _read(answers[:1], CompileAnswer)
        walked = _read(answers[1:], WalkAnswer)
    except msgspec.ValidationError as error:
        compiled, walked = CompileAnswer(), WalkAnswer()
        end = ProcessResult(ending=Ending.PROTOCOL, detail=f"no answer: {error}")
    result, detail = _ending(compiled, walked, end)
    if printed_too_much or compiled.printed_too_much or walked.printed_too_much:
        result = Result.TOO_MUCH_OUTPUT
        detail = f"it printed over {MOST_PRINTED_BYTES >> 20} MiB"
    parts = (compiled, walked)[: len(answers)]
    last = walked if answers[1:] and answers[1] else compiled
    quiets = [answer.quiet for answer in parts if answer.quiet is not None]
    printed = [] if end is None else printed_lines(end.stderr)
    printed += list(compiled.warnings)
    printed += [*printed_lines(compiled.printed), *printed_lines(walked.printed)]
    return Row(
        engine=engine,
        task=case.task,
        id=case.id,
        config=case.config,
        weight=case.weight,
        result=result,
        phase=_phase(result, 1 if compiled.printed_too_much else len(answers)),
        detail=_without_addresses(detail),
        warnings=tuple(dict.fromkeys(printed))[:_MOST_WARNINGS],
        compile_ns=compiled.compile_ns,
        compile_waited_ns=compiled.waited_ns,
        calibration_ns=compiled.calibration_ns,
        ended_by_wall_clock=walked.by_wall_clock
        or (end is not None and end.by_wall_clock),
        first_mask_ns=walked.first_mask_ns,
        rss_bytes=last.rss_bytes,
        quiet=all(quiets) if quiets else None,
        walks=tuple(
            replace(result, why=why_of(case.schema, walk, result))
            for walk, result in zip(
                case.walks, _results(case.walks, tokens, walked.walks), strict=True
            )
        ),
        label=case.label,
        fingerprint=fingerprint,
    )


def _read(answers: Sequence[Json], kind: type[A]) -> A:
    """Return the first answer, or an empty one."""
    return msgspec.convert((answers and answers[0]) or {}, kind)


def _phase(result: Result, answers: int) -> str:
    if result is Result.OK:
        return ""
    if result is Result.COMPILE_ERROR or answers < 2:  # noqa: PLR2004 (the walks' answer)
        return _COMPILE
    return _WALK


def _ending(
    compiled: CompileAnswer, walked: WalkAnswer, end: ProcessResult | None
) -> tuple[Result, str]:
    if end is not None:
        result = Result.UNDECIDED if end.for_want_of_core else RESULTS[end.ending]
        return result, end.detail
    if compiled.refusal is not None:
        return Result.COMPILE_ERROR, compiled.refusal
    for text in walked.walks:
        if text.verdict is WalkVerdict.ENGINE_ERROR:
            return Result.ENGINE_ERROR, text.detail
    if walked.late:
        late = Result.UNDECIDED if walked.for_want_of_core else Result.TIMEOUT
        return late, walked.late
    return Result.OK, ""


def printed_lines(text: str) -> list[str]:
    """Return what was printed, line by line, without the time of day before it."""
    lines = (_CLOCK.sub("", line.strip()) for line in text.splitlines())
    return [_without_addresses(line[:1000]) for line in lines if line]


def _without_addresses(text: str) -> str:
    """Return a text without addresses in memory, which the next run has elsewhere."""
    return _ADDRESS.sub("0x...", text)


def _results(
    walks: Sequence[InstanceWalk],
    tokens: Sequence[Sequence[int] | None],
    walked: Sequence[WalkedText],
) -> Iterator[InstanceResult]:
    """Yield what came of each walk; those without an answer were not run."""
    never_begun = WalkedText(WalkVerdict.NOT_RUN, None, (), (), None, "")
    contradictions = find_contradictions(tokens, walked)
    for index, (walk, ids) in enumerate(zip(walks, tokens, strict=True)):
        text = walked[index] if index < len(walked) else never_begun
        verdict, detail = text.verdict, _without_addresses(text.detail)
        if verdict is WalkVerdict.MASK_GAP and not walk.valid:
            # Its mask was right, and its commit was not.
            verdict = WalkVerdict.LIED
        if index in contradictions:
            verdict = WalkVerdict.CONTRADICTED
            blocked = "the end" if text.at is None else "this token"
            other = contradictions[index] + 1
            detail = f"{blocked} was allowed after the same tokens in text {other}"
        yield InstanceResult(
            verdict=verdict,
            valid=walk.valid,
            tokens=len(ids or ()),
            at=text.at,
            byte=text.byte,
            mask_ns=text.mask_ns,
            commit_ns=text.commit_ns,
            waited_ns=text.waited_ns,
            forced=text.forced,
            detail=detail,
            label=walk.label,
        )


#: Stands for the end of a text; no token has this id.
_END: Final = -1


def find_contradictions(
    tokens: Sequence[Sequence[int] | None], walked: Sequence[WalkedText]
) -> Mapping[int, int]:
    """Return each walk that is contradicted, with one that contradicts it.

    Args:
        tokens: The tokens of each text of a case; None where none spell it.
        walked: What came of the walks, in order; it may be shorter.

    Returns:
        Index of a walk that was blocked, or that was not allowed to end, to the index
        of one in which the same token, or the end, was let through after the same
        tokens.

    Example:
        >>> from evaluation.walking.rows import WalkedText
        >>> whole = WalkedText(WalkVerdict.ACCEPTED, None, (), (), None, "")
        >>> blocked = WalkedText(WalkVerdict.BLOCKED, 1, (), (), None, "")
        >>> find_contradictions([[5, 6, 7], [5, 6]], [whole, blocked])
        {1: 0}
    """
    pairs = [
        (index, list(ids), text)
        for index, (ids, text) in enumerate(zip(tokens, walked, strict=False))
        if ids is not None
    ]
    refused = {
        index: _refused_beginning(ids, text)
        for index, ids, text in pairs
        if text.verdict in {WalkVerdict.BLOCKED, WalkVerdict.UNFINISHED}
    }
    if not refused:
        return {}
    let_through = sorted(
        (_beginning_let_through(ids, text), index) for index, ids, text in pairs
    )
    beginnings = [beginning for beginning, _ in let_through]
    contradicted: dict[int, int] = {}
    for index, beginning in refused.items():
        # What begins like it stands right behind it, if there is any.
        place = bisect_left(beginnings, beginning)
        if beginnings[place : place + 1]:
            other, number = let_through[place]
            if other[: len(beginning)] == beginning:
                contradicted[index] = number
    return contradicted


def _refused_beginning(tokens: list[int], walked: WalkedText) -> list[int]:
    """Return the tokens up to and with the one that was blocked, or the end."""
    if walked.verdict is WalkVerdict.UNFINISHED or walked.at is None:
        return [*tokens, _END]
    return tokens[: walked.at + 1]


def _beginning_let_through(tokens: list[int], walked: WalkedText) -> list[int]:
    """Return the tokens that were in their masks, and the end where it was allowed."""
    if walked.verdict is WalkVerdict.ACCEPTED:
        return [*tokens, _END]
    if walked.verdict is WalkVerdict.UNFINISHED:
        return tokens
    return tokens[: walked.at or 0]
