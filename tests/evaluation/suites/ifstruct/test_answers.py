"""The self-test: right answers pass, every kind of broken one fails as intended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from evaluation.suites.ifstruct.answers.known import MUTATIONS, judged_answers
from evaluation.suites.ifstruct.answers.reference import reference_answer
from evaluation.suites.ifstruct.answers.text_mutations import LARGE_MUTATION
from evaluation.suites.ifstruct.generator.generate import generate_rows
from evaluation.suites.ifstruct.records.files import read_records, write_records
from evaluation.suites.ifstruct.verifier.findings import Failure, RuleReading
from evaluation.suites.ifstruct.verifier.verify import compile_requirements, verify
from tests.evaluation.suites.ifstruct.rows import rows, source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.suites.ifstruct.records.record import IfstructRecord


def _tally(
    made: Iterable[IfstructRecord], reading: RuleReading
) -> tuple[Counter[str], dict[str, str]]:
    """Return how many answers of each kind there were, and the first wrong verdict."""
    kinds: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for row in made:
        compiled = compile_requirements(row.requirements)
        for answer in judged_answers(row, reading):
            counted = verify(answer.text, compiled).counted(reading)
            failure = counted[0].failure if counted else None
            kinds[answer.kind] += 1
            if failure is not answer.failure:
                wrong[answer.kind] = f"row {row.seed}: {failure} for {answer.failure}"
    return kinds, wrong


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("reading", [RuleReading.PUBLISHED, RuleReading.RECOMMENDED])
def test_known_answers_get_their_verdicts(
    reading: RuleReading,
    extended: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """Right answers pass, and every broken one has the failure that it was given."""
    kinds, wrong = _tally(
        rows(40, extended=True)[:4] if extended else rows(240)[:4], reading
    )
    assert wrong == {}
    seen = [kind for kind in kinds if not kind.startswith("unseen")]
    assert len(seen) > 50


@pytest.mark.slow
def test_every_kind_of_fault_occurs() -> None:
    """The rows of the tests leave room for each mutation; two no rule can see."""
    plain, wrong = _tally(rows(240)[:160], RuleReading.RECOMMENDED)
    assert wrong == {}
    extended, wrong = _tally(rows(80, extended=True), RuleReading.RECOMMENDED)
    assert wrong == {}
    kinds = {*plain, *extended}
    names = {mutation.name for mutation in MUTATIONS}
    unseen = {"empty text", "the same item again"}
    assert kinds >= (names - unseen) | {f"unseen: {name}" for name in unseen}
    assert len(names) >= 25
    assert "unseen: name twice" in plain
    assert "unseen: name twice" not in extended


@pytest.mark.slow
def test_five_thousand_references_pass() -> None:
    """The reference answers to 5,000 rows pass, in both formats and both tracks."""
    for extended in (False, True):
        for row in generate_rows(source("published", extended=extended), 1, 2500):
            answer = reference_answer(row)
            verdict = verify(answer.text, compile_requirements(row.requirements))
            assert verdict.findings == (), row.seed


def test_rows_without_a_spec_are_answered_too() -> None:
    """A published file has no `spec`: its schema alone is enough for an answer."""
    published = write_records(rows(240)[:4], published=True)
    kinds, wrong = _tally(read_records(published, "published"), RuleReading.PUBLISHED)
    assert wrong == {}
    assert kinds["reference"] == 4


def test_a_million_characters_are_too_many() -> None:
    """The one mutation that is left out of the self-test for its size."""
    row = rows(240)[0]
    broken = LARGE_MUTATION.apply(reference_answer(row))
    assert broken is not None
    verdict = verify(broken.text, compile_requirements(row.requirements))
    assert [found.failure for found in verdict.findings] == [Failure.TOO_LARGE]
