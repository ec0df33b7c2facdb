"""The worker process that scores: one response a unit, schemas kept compiled.

Run by path (`curation.workers.pool`); a unit is a `ScoringUnit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from curation.workers.protocol import serve
from evaluation.suite_runs.scoring_messages import ScoringSetup, ScoringUnit
from evaluation.suites.registry import suite_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.core.suite_records import Verdict


def start(setup: dict[str, Any]) -> Callable[[Any], Verdict]:
    """Make the scorer of a suite; return the handler of one unit."""
    asked = msgspec.convert(setup, ScoringSetup)
    suite = suite_named(asked.suite)
    scorer = suite.scorer(msgspec.convert(asked.settings, suite.settings))

    def handle(message: Any) -> Verdict:  # noqa: ANN401 - JSON, converted here
        unit = msgspec.convert(message, ScoringUnit)
        return scorer(unit.record, unit.response)

    return handle


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode, decode=msgspec.json.decode)
