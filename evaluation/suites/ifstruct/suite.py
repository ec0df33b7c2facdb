"""IFStruct, as `csbdata suite ifstruct` runs it.

Source: Sam Paech and others, "IFStruct: Measuring structured-output compliance", Liquid
AI, 2026; docs/suites/ifstruct.md says what is ours and where the readings differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.suite import Suite
from evaluation.suites.ifstruct.settings import IfstructSettings, as_published
from evaluation.suites.ifstruct.verifier.findings import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.core.suite import (
        KnownAnswer,
        RecordRequest,
        RecordSet,
        ScoredRun,
        Scorer,
    )
    from evaluation.core.suite_records import SuitePrompt, SuiteRecord
    from evaluation.reporting.report import Report


def make_suite(name: str, summary: str, *, extended: bool) -> Suite[IfstructSettings]:
    """Return the suite of one track.

    Args:
        name: What `csbdata suite` calls it.
        summary: One sentence for the help text.
        extended: Whether its rows ask for what the published verifier does not see.
    """

    def records(request: RecordRequest, settings: IfstructSettings) -> RecordSet:
        from evaluation.suites.ifstruct.rows import find_records  # noqa: PLC0415 - heavy

        return find_records(request, settings, extended=extended)

    def generate(
        count: int, seed: int, settings: IfstructSettings
    ) -> Iterable[SuiteRecord]:
        from evaluation.suites.ifstruct.rows import draw_records  # noqa: PLC0415 - heavy

        return draw_records(count, seed, settings, extended=extended)

    return Suite(
        name=name,
        summary=summary,
        settings=IfstructSettings,
        classes={str(failure): failure.explanation for failure in Failure},
        records=records,
        prompt=_prompt,
        scorer=_scorer,
        report=_report,
        known_answers=_known_answers,
        generate=generate,
        layouts={"published": _published, "hub": _hub},
        paper=as_published,
    )


def _prompt(record: SuiteRecord, settings: IfstructSettings) -> SuitePrompt:
    from evaluation.suites.ifstruct.rows import ask  # noqa: PLC0415 - heavy

    return ask(record, settings)


def _scorer(settings: IfstructSettings) -> Scorer:
    from evaluation.suites.ifstruct.scorer import IfstructScorer  # noqa: PLC0415 - heavy

    return IfstructScorer(settings)


def _known_answers(
    record: SuiteRecord, settings: IfstructSettings
) -> Iterable[KnownAnswer]:
    from evaluation.suites.ifstruct.known_answers import (  # noqa: PLC0415 - heavy
        known_answers,
    )

    return known_answers(record, settings)


def _published(records: Sequence[SuiteRecord]) -> bytes:
    return _written(records, hub=False)


def _hub(records: Sequence[SuiteRecord]) -> bytes:
    return _written(records, hub=True)


def _written(records: Sequence[SuiteRecord], *, hub: bool) -> bytes:
    """Return a file of the ten published columns, as files hold them or as the Hub."""
    from evaluation.suites.ifstruct.records.asked import read_asked  # noqa: PLC0415 - heavy
    from evaluation.suites.ifstruct.records.files import write_records  # noqa: PLC0415 - heavy

    rows = [read_asked(record) for record in records]
    return write_records(rows, published=True, hub=hub)


def _report(run: ScoredRun) -> Report:
    from evaluation.suites.ifstruct.reporting.report import report  # noqa: PLC0415 - heavy

    return report(run)


SUITE: Final = make_suite(
    "ifstruct",
    "Does a model follow a request for JSON or YAML, to the letter?",
    extended=False,
)
