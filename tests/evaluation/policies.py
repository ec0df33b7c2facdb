"""Engines made up for report tests: each is a rule that says what became of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.core.cases import Case, InstanceWalk

#: What an engine says of one text.
Rule = "Callable[[InstanceWalk], Verdict]"


def knows_all(walk: InstanceWalk) -> WalkVerdict:
    """Accept what is valid and block the rest."""
    return WalkVerdict.ACCEPTED if walk.valid else WalkVerdict.BLOCKED


def accepts_all(_walk: InstanceWalk) -> WalkVerdict:
    """Accept every text."""
    return WalkVerdict.ACCEPTED


def blocks_all(_walk: InstanceWalk) -> WalkVerdict:
    """Block every text."""
    return WalkVerdict.BLOCKED


def never_ends(walk: InstanceWalk) -> WalkVerdict:
    """Let every text be written, but never allow the end."""
    return WalkVerdict.UNFINISHED


def lies(_walk: InstanceWalk) -> WalkVerdict:
    """Refuse a token of its own mask."""
    return WalkVerdict.LIED


def answered(
    case: Case, rule: Callable[[InstanceWalk], WalkVerdict], engine: str
) -> Row:
    """Return the row of an engine that compiles everything and follows a rule."""
    return _row(case, engine, Result.OK, rule)


def refused(case: Case, engine: str, detail: str = "Unimplemented keys: not") -> Row:
    """Return the row of an engine that refuses the schema."""
    return _row(case, engine, Result.COMPILE_ERROR, _not_run, detail)


def died(case: Case, engine: str, result: Result = Result.CRASH) -> Row:
    """Return the row of an engine that dies while compiling."""
    return _row(case, engine, result, _not_run)


def _not_run(_walk: InstanceWalk) -> WalkVerdict:
    return WalkVerdict.NOT_RUN


def _row(
    case: Case,
    engine: str,
    result: Result,
    rule: Callable[[InstanceWalk], WalkVerdict],
    detail: str = "",
) -> Row:
    return Row(
        engine=engine,
        task=case.task,
        id=case.id,
        config=case.config,
        result=result,
        phase="" if result is Result.OK else "compile",
        detail=detail,
        walks=tuple(
            InstanceResult(
                verdict=rule(walk),
                valid=walk.valid,
                tokens=len(walk.text),
                label=walk.label,
            )
            for walk in case.walks
        ),
        label=case.label,
    )
