"""SOB, the Structured Output Benchmark, as `csbdata suite sob` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.core.suite import Suite
from evaluation.suites.sob.mistakes.classes import Mistake
from evaluation.suites.sob.settings import SobSettings, as_published

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import Json
    from evaluation.core.suite import (
        KnownAnswer,
        RecordRequest,
        RecordSet,
        ScoredRun,
        Scorer,
    )
    from evaluation.core.suite_records import SuitePrompt, SuiteRecord, SuiteResponse
    from evaluation.reporting.report import Report


def _records(request: RecordRequest, settings: SobSettings) -> RecordSet:
    from evaluation.suites.sob.records.loading import suite_records  # noqa: PLC0415 - heavy

    return suite_records(request, any_object=settings.constraint == "object")


def _generate(count: int, seed: int, settings: SobSettings) -> Iterable[SuiteRecord]:
    from evaluation.suites.sob.generator.generate import generated_records  # noqa: PLC0415 - heavy
    from evaluation.suites.sob.records.loading import suite_record  # noqa: PLC0415 - heavy

    any_object = settings.constraint == "object"
    for record in generated_records(count, seed):
        yield suite_record(record, any_object=any_object)


def _prompt(record: SuiteRecord, settings: SobSettings) -> SuitePrompt:
    from evaluation.suites.sob.records.loading import sob_record  # noqa: PLC0415 - heavy
    from evaluation.suites.sob.records.prompt import ask  # noqa: PLC0415 - heavy

    return ask(
        sob_record(record),
        schema_in_prompt=settings.schema_in_prompt,
        max_tokens=settings.max_tokens,
    )


def _scorer(settings: SobSettings) -> Scorer:
    from evaluation.suites.sob.answers.scorer import SobScorer  # noqa: PLC0415 - heavy

    return SobScorer(settings.rules)


def _known_answers(
    record: SuiteRecord, _settings: SobSettings
) -> Iterable[KnownAnswer]:
    from evaluation.suites.sob.known_answers import known_answers  # noqa: PLC0415 - heavy
    from evaluation.suites.sob.records.loading import sob_record  # noqa: PLC0415 - heavy

    return known_answers(sob_record(record))


def _report(run: ScoredRun) -> Report:
    from evaluation.suites.sob.report.report import report  # noqa: PLC0415 - heavy

    return report(run)


def _published_response(line: Mapping[str, Json]) -> SuiteResponse | None:
    from evaluation.suites.sob.records.published_rows import (  # noqa: PLC0415 - heavy
        response_of_line,
    )

    return response_of_line(line)


SUITE = Suite(
    name="sob",
    summary="Are the values right that a model extracts, not only their shape?",
    settings=SobSettings,
    classes={kind.value: kind.explanation for kind in Mistake},
    records=_records,
    prompt=_prompt,
    scorer=_scorer,
    report=_report,
    known_answers=_known_answers,
    generate=_generate,
    paper=as_published,
    published_response=_published_response,
)
