"""The prompted pass rate, as `csbdata suite` runs it: records and report.

Source: "How the JSONSchemaBench works", the description of a public harness; where it
is silent or contradicts itself, docs/suites.md names the reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.registry import imported_late
from evaluation.core.suite import ScoredResponse, ScoredRun, Suite
from evaluation.reporting.tables import BRACKETS, Table
from evaluation.suites.common import schema_records
from evaluation.suites.passrate.prompts import prompt
from evaluation.suites.passrate.settings import (
    PUBLISHED_CLEANING,
    FailureClass,
    PassrateSettings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.core.records import RecordRequest, RecordSet
    from evaluation.reporting.tables import Cell

#: Maximum share of responses without an answer for a meaningful rate.
_DEGRADED: Final = 0.01
_NOTE: Final = (
    "passed: of all responses but those whose schema cannot be used. answered: of the "
    "same without the class api_error. strict: no member that the schema does not "
    "declare; schema: what the schema itself accepts. degraded: over 1 % "
    f"are of class api_error. {BRACKETS}"
)


def _records(request: RecordRequest, _settings: PassrateSettings) -> RecordSet:
    return schema_records(request)


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own table."""
    from evaluation.results.suite_tables import groups_of, texts_of_group  # noqa: PLC0415 - heavy

    rows: list[tuple[Cell, ...]] = []
    for group in groups_of(run.by_label):
        for label, responses in run.by_label.items():
            rows.append((group, label, *_rates(texts_of_group(responses, group))))
    rates = ("answered", "strict", "schema", "degraded")
    yield Table(
        title="Prompted pass rate",
        columns=("config", "model", "responses", "passed", *rates),
        rows=tuple(rows),
        note=_NOTE,
        name="pass-rate",
    )


def _rates(responses: Sequence[ScoredResponse]) -> tuple[Cell, ...]:
    from evaluation.results.suite_tables import passed, share_of  # noqa: PLC0415 - heavy

    counted = [scored for scored in responses if scored.verdict.counted]
    answered = [
        scored
        for scored in counted
        if scored.verdict.failure_class != FailureClass.API_ERROR
    ]
    return (
        len(responses),
        passed(counted),
        passed(answered),
        share_of(counted, "strict"),
        share_of(counted, "schema"),
        "yes" if len(counted) - len(answered) > _DEGRADED * len(counted) else "",
    )


SUITE = Suite(
    name="passrate",
    summary="Does a model, only asked to, write JSON that its schema accepts?",
    settings=PassrateSettings,
    classes={kind.value: kind.explanation for kind in FailureClass},
    records=_records,
    prompt=prompt,
    scorer=imported_late("evaluation.suites.passrate.scorer", "passrate_scorer"),
    tables=tables,
    paper={
        "describe": False,
        "cleaning": PUBLISHED_CLEANING,
        "mode": "strict",
        "formats": False,
    },
)
