"""Outcomes of task `test-suite`, by the paper's criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Explained
from evaluation.core.cases import Result, WalkVerdict
from evaluation.results.outcomes import FAULTS, engine_is_right, number_in

if TYPE_CHECKING:
    from evaluation.core.cases import Row


class SuiteFailure(Explained):
    """Why a case is not passed."""

    COMPILE_ERROR = (
        "compile_error",
        "the schema was refused, though there is a valid instance",
    )
    OVER_CONSTRAINED = ("over_constrained", "a valid instance cannot be generated")
    UNDER_CONSTRAINED = ("under_constrained", "an invalid instance can be generated")
    DIED = ("died", "a time-out, a crash, or no answer: not all was walked")
    ENGINE_ERROR = ("engine_error", "the engine failed while an instance was walked")
    LIED = ("lied", "mask and commit disagree about a token")
    CONTRADICTED = ("contradicted", "two answers after the same tokens")


def list_failures(row: Row) -> set[SuiteFailure]:
    """Return why a row of the task `test-suite` is not passed; nothing if it is."""
    valid = number_in(row, "valid", sum(walk.valid for walk in row.walks))
    if row.result is Result.COMPILE_ERROR:
        return {SuiteFailure.COMPILE_ERROR} if valid else set()
    walked = [walk for walk in row.walks if walk.verdict is not WalkVerdict.NOT_RUN]
    failures = {
        SuiteFailure.OVER_CONSTRAINED if walk.valid else SuiteFailure.UNDER_CONSTRAINED
        for walk in walked
        if engine_is_right(walk) is False
    }
    failures |= {
        SuiteFailure(walk.verdict.value) for walk in walked if walk.verdict in FAULTS
    }
    ended = row.result in {Result.OK, Result.ENGINE_ERROR}
    if not ended or len(walked) < number_in(row, "tests", len(row.walks)):
        failures.add(SuiteFailure.DIED)
    return failures
