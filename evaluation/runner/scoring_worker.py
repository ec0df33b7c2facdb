"""The worker process that scores responses: one a case, records kept prepared.

Run by path (`curation.workers.pool`); a case is a `ScoringCase`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from curation.workers.protocol import serve
from evaluation.answers.json_search import find_envelope
from evaluation.core.records import Record, Response, Verdict
from evaluation.core.suite import ENGINE_ERROR, Judge
from evaluation.suites.registry import suite_named

#: Number of records kept prepared; several writers' come in turns.
_MAX_PREPARED: Final = 512


class ScoringCase(msgspec.Struct, frozen=True, kw_only=True):
    """One response to score."""

    record: Record
    response: Response


def start(message: dict[str, Any]) -> Callable[[Any], Verdict]:
    """Make the scorer of a suite; return the handler of one case.

    Args:
        message: `suite`, its name or the path of its folder; `settings`; and whether
            its `fallback` scores.
    """
    suite = suite_named(message["suite"])
    settings = msgspec.convert(message["settings"], suite.settings)
    make = suite.fallback if message["fallback"] else suite.scorer
    scorer = (make or suite.scorer)(settings)
    judges: dict[str, Judge] = {}

    def handle(message: Any) -> Verdict:  # noqa: ANN401 - JSON, converted here
        case = msgspec.convert(message, ScoringCase)
        key = case.record.key
        if key not in judges:
            if len(judges) == _MAX_PREPARED:
                judges.clear()
            judges[key] = scorer(case.record)
        verdict = judges[key](case.response)
        if case.response.text and not case.response.writing:
            details = {**verdict.details, "envelope": find_envelope(case.response.text)}
            verdict = msgspec.structs.replace(verdict, details=details)
        fails = verdict.counted and not verdict.passed
        # A text of task `coverage` has separate classes for the engine's failures.
        by_engine = case.response.finish == ENGINE_ERROR and not case.response.writing
        if fails and by_engine:
            return msgspec.structs.replace(verdict, failure_class=ENGINE_ERROR)
        return verdict

    return handle


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode, decode=msgspec.json.decode)
