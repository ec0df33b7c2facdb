"""The prompted pass rate, as `csbdata suite passrate` runs it.

Source: "How the JSONSchemaBench works", the description of a public harness; where it
is silent or contradicts itself, docs/suites.md says which reading this is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.suite import Suite
from evaluation.suites.passrate.prompts import prompt
from evaluation.suites.passrate.settings import (
    FailureClass,
    PassrateSettings,
    as_published,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.core.suite import (
        KnownAnswer,
        RecordRequest,
        RecordSet,
        ScoredRun,
        Scorer,
    )
    from evaluation.core.suite_records import SuiteRecord
    from evaluation.reporting.report import Report


# What is heavy is imported by who needs it: a worker that scores reads no data.
def _records(request: RecordRequest, settings: PassrateSettings) -> RecordSet:
    from evaluation.suites.passrate.records import records  # noqa: PLC0415 - heavy

    return records(request, settings)


def _scorer(settings: PassrateSettings) -> Scorer:
    from evaluation.suites.passrate.scorer import PassrateScorer  # noqa: PLC0415 - heavy

    return PassrateScorer(settings)


def _known_answers(
    record: SuiteRecord, settings: PassrateSettings
) -> Iterable[KnownAnswer]:
    from evaluation.suites.passrate.known_answers import (  # noqa: PLC0415 - heavy
        known_answers,
    )

    return known_answers(record, settings)


def _report(run: ScoredRun) -> Report:
    from evaluation.suites.passrate.report import report  # noqa: PLC0415 - heavy

    return report(run)


SUITE = Suite(
    name="passrate",
    summary="Does a model, only asked to, write JSON that its schema accepts?",
    settings=PassrateSettings,
    classes={kind.value: kind.explanation for kind in FailureClass},
    records=_records,
    prompt=prompt,
    scorer=_scorer,
    report=_report,
    known_answers=_known_answers,
    paper=as_published,
)
