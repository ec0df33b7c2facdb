"""The self-test: right answers pass, every kind of broken one fails as intended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Response
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.generator import generate_rows
from evaluation.suites.ifstruct.scorer import verify
from evaluation.suites.ifstruct.settings import Failure, RuleReading
from evaluation.suites.ifstruct.suite import read_rows
from tests.evaluation.suites.ifstruct.answers.known import MUTATIONS, judged_answers
from tests.evaluation.suites.ifstruct.answers.reference import reference_answer
from tests.evaluation.suites.ifstruct.answers.text_mutations import LARGE_MUTATION
from tests.evaluation.suites.ifstruct.rows import published_lines, rows, source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.suites.ifstruct.rows import IfstructRecord
    from evaluation.suites.ifstruct.scorer import StructureVerdict


def _verify(row: IfstructRecord, text: str) -> StructureVerdict:
    return verify(Response(record=row.id, text=text), row.requirements)


def _tally(
    made: Iterable[IfstructRecord], reading: RuleReading
) -> tuple[Counter[str], dict[str, str]]:
    """Return how many answers of each kind there were, and the first wrong verdict."""
    kinds: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for row in made:
        for answer in judged_answers(row, reading):
            counted = _verify(row, answer.text).counted(reading)
            failure = counted[0].failure if counted else None
            kinds[answer.kind] += 1
            if failure is not answer.failure:
                wrong[answer.kind] = f"row {row.seed}: {failure} for {answer.failure}"
    return kinds, wrong


@pytest.mark.parametrize("reading", [RuleReading.PUBLISHED, RuleReading.RECOMMENDED])
def test_known_answers_get_their_verdicts(reading: RuleReading) -> None:
    """Right answers pass, and every broken one has the failure that it was given."""
    kinds, wrong = _tally(rows(240)[:4], reading)
    assert wrong == {}
    seen = [kind for kind in kinds if not kind.startswith("unseen")]
    assert len(seen) > 50


@pytest.mark.slow
def test_every_kind_of_fault_occurs() -> None:
    """The rows of the tests leave room for each mutation; three no rule can see."""
    plain, wrong = _tally(rows(240)[:160], RuleReading.RECOMMENDED)
    assert wrong == {}
    published, wrong = _tally(rows(240)[:40], RuleReading.PUBLISHED)
    assert wrong == {}
    kinds = {*plain, *published}
    names = {mutation.name for mutation in MUTATIONS}
    unseen = {"empty text", "the same item again", "name twice"}
    assert kinds >= (names - unseen) | {f"unseen: {name}" for name in unseen}
    assert len(names) >= 25


@pytest.mark.slow
def test_five_thousand_references_pass() -> None:
    """The reference answers to 5,000 rows pass, in both formats."""
    for row in generate_rows(source("published"), 1, 5000):
        answer = reference_answer(row)
        assert _verify(row, answer.text).findings == (), row.seed


def test_rows_without_a_spec_are_answered_too() -> None:
    """A published file has no `spec`: its schema alone is enough for an answer."""
    published = published_lines(rows(240)[:4])
    kinds, wrong = _tally(
        read_rows(json_rows(published, "published")), RuleReading.PUBLISHED
    )
    assert wrong == {}
    assert kinds["reference"] == 4


def test_a_million_characters_are_too_many() -> None:
    """The one mutation that is left out of the self-test for its size."""
    row = rows(240)[0]
    broken = LARGE_MUTATION.apply(reference_answer(row))
    assert broken is not None
    findings = _verify(row, broken.text).findings
    assert [found.failure for found in findings] == [Failure.TOO_LARGE]
