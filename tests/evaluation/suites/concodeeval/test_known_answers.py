"""The suite tests itself: right answers pass, every mutated one fails as intended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Response
from evaluation.suites.concodeeval.scorer import ConcodeScorer
from evaluation.suites.concodeeval.settings import ConcodeSettings, SuiteReading
from evaluation.suites.concodeeval.suite import SUITE
from tests.evaluation.suites.concodeeval.drawn import made_records, made_schemas
from tests.evaluation.suites.concodeeval.known_answers.all_known import known_answers
from tests.evaluation.suites.concodeeval.known_answers.generation import (
    accepts_any_object,
)

if TYPE_CHECKING:
    from evaluation.core.records import Record, Verdict
    from evaluation.core.suite import KnownAnswer

_SETTINGS = [
    ConcodeSettings(representations="nl"),
    ConcodeSettings(representations="yaml", form="base", formats=True),
    ConcodeSettings(representations="json", xml="paper"),
    ConcodeSettings(
        representations="json", reading=SuiteReading.PAPER, form="base", xml="paper"
    ),
]


def _judged(
    settings: ConcodeSettings, records: list[Record]
) -> list[tuple[Record, KnownAnswer, Verdict]]:
    scorer = ConcodeScorer(settings)
    return [
        (
            record,
            known,
            judge(Response(record=record.key, text=known.text, error=known.error)),
        )
        for record, judge in ((record, scorer(record)) for record in records)
        for known in known_answers(record, settings)
    ]


@pytest.mark.parametrize("settings", _SETTINGS)
def test_every_known_answer_gets_its_verdict(settings: ConcodeSettings) -> None:
    """Over representations, formats, both tasks and both readings."""
    judged = _judged(settings, made_records(settings)[::7])
    for record, known, verdict in judged:
        assert verdict.failure_class == known.expected, (record.key, known)
        told = any(known.because in reason for reason in verdict.reasons)
        assert told or not known.because, (record.key, known, verdict.reasons)
    kinds = {known.kind for _, known, _ in judged if known.expected}
    assert len(kinds) > 20


@pytest.mark.parametrize("settings", _SETTINGS)
def test_the_answers_of_the_selftest_get_their_verdicts(
    settings: ConcodeSettings,
) -> None:
    """A handful a record, over both tasks and both readings."""
    scorer = ConcodeScorer(settings)
    classes = set()
    for record in made_records(settings)[::7]:
        for known in SUITE.known_answers(record, settings):
            response = Response(record=record.key, text=known.text, error=known.error)
            verdict = scorer(record)(response)
            assert verdict.failure_class == known.expected, (record.key, known)
            classes.add(known.expected)
    assert len(classes) > 6


def test_with_the_papers_xml_the_decoder_is_measured() -> None:
    """A right answer fails unless its schema accepts any object."""
    settings = ConcodeSettings(
        representations="json", outputs="xml", task="generation", xml="paper"
    )
    judged = [
        (record, verdict)
        for record, known, verdict in _judged(settings, made_records(settings))
        if known.kind == "reference"
    ]
    schemas = [json.loads(made.constraint) for made in made_schemas()]
    assert len(judged) == len(schemas) == 24
    roots = sum(verdict.scores["rtv"] for _, verdict in judged)
    assert roots == sum(schema["type"] != "object" for schema in schemas) == 18
    passed = sum(verdict.passed for _, verdict in judged)
    assert passed == sum(map(accepts_any_object, schemas))
