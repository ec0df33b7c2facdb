"""From a worker's answers to one row, whatever came of the unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from curation.workers.outcomes import Ending
from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson
    from curation.workers.outcomes import ProcessResult
    from evaluation.core.cases import Case, InstanceWalk

#: What an ending of the engine's process is to a unit.
RESULTS = {
    Ending.TIMEOUT: Result.TIMEOUT,
    Ending.CRASH: Result.CRASH,
    Ending.OUT_OF_MEMORY: Result.OUT_OF_MEMORY,
    Ending.ERROR: Result.ERROR,
    Ending.PROTOCOL: Result.PROTOCOL_ERROR,
}
_COMPILE, _WALK = "compile", "walk"
_MOST_WARNINGS = 50
#: As the logs of native code begin; rows are the same whenever they are made.
_CLOCK = re.compile(r"^\[\d\d:\d\d:\d\d\] ")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


def row_of_answers(  # noqa: PLR0913, PLR0917 (what a row is made of)
    engine: str,
    case: Case,
    tokens: Sequence[Sequence[int] | None],
    answers: Sequence[UntypedJson],
    end: ProcessResult | None,
    fingerprint: str,
) -> Row:
    """Return the row of one unit.

    `answers` are those to compile and walk, as far as they came; `end` is the
    outcome of the question that had no answer.
    """
    given: list[dict[str, Any]] = [each or {} for each in answers]
    compiled, walked = (*given, {}, {})[:2]
    phase = _WALK if len(given) > 1 else _COMPILE
    result, detail = _ending(compiled, walked, end)
    told = [] if end is None else _lines(end.stderr)
    for each in given:
        told += [*each.get("warnings", ()), *_lines(each.get("printed", ""))]
    last = walked or compiled
    quiets = [each["quiet"] for each in given if each.get("quiet") is not None]
    return Row(
        engine=engine,
        task=case.task,
        id=case.id,
        config=case.config,
        result=result,
        phase="" if result is Result.OK else _phase(result, phase),
        detail=_steady(detail),
        warnings=tuple(dict.fromkeys(told))[:_MOST_WARNINGS],
        compile_ns=compiled.get("compile_ns"),
        first_mask_ns=walked.get("first_mask_ns"),
        rss_bytes=last.get("rss_bytes"),
        quiet=all(quiets) if quiets else None,
        walks=_walked(case.walks, tokens, walked.get("walks", ())),
        label=case.label,
        fingerprint=fingerprint,
    )


def _phase(result: Result, phase: str) -> str:
    return _COMPILE if result is Result.COMPILE_ERROR else phase


def _ending(
    compiled: dict[str, Any], walked: dict[str, Any], end: ProcessResult | None
) -> tuple[Result, str]:
    if end is not None:
        return RESULTS[end.ending], end.detail
    if "refusal" in compiled:
        return Result.COMPILE_ERROR, compiled["refusal"]
    if walked.get("raised"):
        return Result.ERROR, walked["raised"]
    if walked.get("late"):
        return Result.TIMEOUT, walked["late"]
    return Result.OK, ""


def _lines(text: str) -> list[str]:
    """Return what was printed, line by line, without the time of day before it."""
    lines = (_CLOCK.sub("", each.strip()) for each in text.splitlines())
    return [_steady(each[:1000]) for each in lines if each]


def _steady(text: str) -> str:
    """Return a text without addresses, which the next run has elsewhere."""
    return _ADDRESS.sub("0x...", text)


def _walked(
    walks: Sequence[InstanceWalk],
    tokens: Sequence[Sequence[int] | None],
    told: Sequence[Any],
) -> tuple[InstanceResult, ...]:
    """Return one outcome a walk; those without an answer were not run."""
    found = []
    for index, (walk, ids) in enumerate(zip(walks, tokens, strict=True)):
        if index >= len(told):
            found.append(
                InstanceResult(
                    verdict=WalkVerdict.NOT_RUN,
                    valid=walk.valid,
                    tokens=len(ids or ()),
                    label=walk.label,
                )
            )
            continue
        verdict, at, mask_ns, commit_ns, forced, detail = told[index]
        found.append(
            InstanceResult(
                verdict=WalkVerdict(verdict),
                valid=walk.valid,
                tokens=len(ids or ()),
                at=at,
                mask_ns=tuple(mask_ns),
                commit_ns=tuple(commit_ns),
                forced=forced,
                detail=detail,
                label=walk.label,
            )
        )
    return tuple(found)
