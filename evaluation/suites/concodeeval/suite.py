"""ConCodeEval, as `csbdata suite concodeeval` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.suite import Suite
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
    as_published,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evaluation.core.suite import (
        KnownAnswer,
        RecordRequest,
        RecordSet,
        ScoredRun,
        Scorer,
    )
    from evaluation.core.suite_records import SuitePrompt, SuiteRecord
    from evaluation.reporting.report import Report

# What the functions below need is imported when they are called: the list of suites
# is read for every help text.


def _records(request: RecordRequest, settings: ConcodeSettings) -> RecordSet:
    from evaluation.suites.concodeeval.records import records  # noqa: PLC0415 - as said

    return records(request, settings)


def _prompt(record: SuiteRecord, settings: ConcodeSettings) -> SuitePrompt:
    from evaluation.suites.concodeeval.prompts import prompt  # noqa: PLC0415 - as said

    return prompt(record, settings)


def _scorer(settings: ConcodeSettings) -> Scorer:
    from evaluation.suites.concodeeval.scorer import ConcodeScorer  # noqa: PLC0415 - as said

    return ConcodeScorer(settings)


def _known_answers(
    record: SuiteRecord, settings: ConcodeSettings
) -> Iterable[KnownAnswer]:
    from evaluation.suites.concodeeval.known_answers import (  # noqa: PLC0415 - as said
        known_answers,
    )

    return known_answers(record, settings)


def _generate(
    count: int, seed: int, settings: ConcodeSettings
) -> Iterator[SuiteRecord]:
    from evaluation.suites.concodeeval.records import generate  # noqa: PLC0415 - as said

    return generate(count, seed, settings)


def _report(run: ScoredRun) -> Report:
    from evaluation.suites.concodeeval.reports.report import report  # noqa: PLC0415 - as said

    return report(run)


SUITE = Suite(
    name="concodeeval",
    summary="Does a model understand a schema that is written five ways?",
    settings=ConcodeSettings,
    classes={kind.value: kind.explanation for kind in AnswerClass},
    records=_records,
    prompt=_prompt,
    scorer=_scorer,
    report=_report,
    known_answers=_known_answers,
    generate=_generate,
    paper=as_published,
)
