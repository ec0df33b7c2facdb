"""Our own records: their truth follows from their context, and a reader can tell."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from curation.json.pointer import at, replaced, tokens_of
from curation.json.text import canonical
from evaluation.suites.sob.generator import OWN_RECORDS, generated_records
from evaluation.suites.sob.metrics import (
    PUBLISHED,
    RECOMMENDED,
    Expectation,
    Metric,
    score_answer,
)
from evaluation.suites.sob.records import SobRecord, complexity_of
from tests.evaluation.suites.sob.reader import complaints, is_spelled, numbers_in

if TYPE_CHECKING:
    from curation.core.json_types import Json


@cache
def _records() -> list[SobRecord]:
    return list(generated_records())


def test_there_are_enough_records_of_every_source() -> None:
    """At least 150, all different, a third of each source, none of them flat."""
    records = _records()
    assert len(records) == OWN_RECORDS >= 150
    assert len({record.record_id for record in records}) == OWN_RECORDS
    sources = Counter(record.source for record in records)
    assert sources == {"text": 60, "image": 60, "audio": 60}
    complexities = Counter(record.schema_complexity for record in records)
    assert complexities == {"hard": 120, "medium": 60}


def test_a_reader_confirms_every_leaf() -> None:
    """Of the default set and of another seed, nobody finds a leaf without a reason."""
    for record in (*_records(), *generated_records(90, seed=7)):
        assert complaints(record) == []


def test_absent_answers_negations_units_and_derived_figures_are_there() -> None:
    """Every record has a null; every other kind of evidence is in many of them."""
    kinds = Counter[str]()
    operations = set()
    for record in _records():
        here = {evidence.kind for evidence in record.evidence.values()}
        operations |= {one.operation for one in record.evidence.values()}
        kinds.update(here)
    assert kinds["absent"] == OWN_RECORDS
    assert kinds["stated"] == OWN_RECORDS
    assert min(kinds["denied"], kinds["affirmed"], kinds["derived"]) > 60
    assert kinds["unknown"] > 20
    assert {"times 1000", "times 10", "difference", "sum", "count"} <= operations - {""}


def test_the_truth_is_worth_everything_in_both_readings() -> None:
    """But for Type Safety where the code knows no null and no union."""
    for record in _records()[:45]:
        for rules in (RECOMMENDED, PUBLISHED):
            expected = Expectation.of(
                record.ground_truth, record.json_schema, record.source, rules
            )
            found = score_answer(record.ground_truth, expected).values
            lowered = {metric for metric in Metric if found[metric] < 1}
            assert lowered == ({Metric.TYPE_SAFETY} if rules is PUBLISHED else set())


def _another(value: Json) -> Json:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1_000_003
    return "Made Up Entirely" if value is not None else "a value"


def test_the_reader_sees_every_leaf_that_is_changed() -> None:
    """A truth with any one leaf changed is told from its context."""
    seen = 0
    for record in _records()[:36]:
        for where in record.evidence:
            value = at(record.ground_truth, tokens_of(where))
            truth = replaced(record.ground_truth, tokens_of(where), _another(value))
            changed = replace(record, ground_truth=truth)
            assert any(line.startswith(where) for line in complaints(changed)), where
            seen += 1
    assert seen > 300


def test_the_reader_sees_leaves_without_evidence_and_evidence_without_leaves() -> None:
    """Every leaf has its reason, and nothing else has."""
    record = _records()[0]
    where, evidence = next(iter(record.evidence.items()))
    rest = {key: value for key, value in record.evidence.items() if key != where}
    assert complaints(replace(record, evidence=rest)) == [f"{where}: no evidence"]
    more = {**record.evidence, "/nowhere": evidence}
    assert complaints(replace(record, evidence=more)) == ["/nowhere: no such leaf"]


def test_the_reader_sees_a_context_that_lacks_a_quote() -> None:
    """Without its sentence a value has no ground."""
    record = _records()[0]
    shorter = replace(record, context=record.context[: len(record.context) // 2])
    assert any("does not hold" in line for line in complaints(shorter))


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (12400, "a length of 12,400 m", True),
        (0.886, "over 0.886 km", True),
        (886, "over 0.886 km", False),
        ("2021-03-15", "by 15 March 2021", True),
        ("2021-03-15", "on 15.03.2021", True),
        ("2021-03-15", "by 14 March 2021", False),
        ("red brick", "built of red brick and oak", True),
        ("brick red", "built of red brick and oak", False),
        (True, "true", False),
    ],
)
def test_what_a_reader_reads(value: Json, text: str, expected: object) -> None:
    """Numbers, dates and words are read in the spellings of the contexts."""
    assert is_spelled(value, text) is expected


def test_numbers_are_read_with_their_groups_and_fractions() -> None:
    """A comma between groups of three is no end of a number."""
    assert list(numbers_in("1,234.50 and 7, 8")) == [1234.5, 7.0, 8.0]


def test_the_same_seed_gives_the_same_bytes_and_fewer_are_the_first_of_more() -> None:
    """Nothing but number and seed decides a record."""
    again = [canonical(record.ground_truth) for record in generated_records(20)]
    assert again == [canonical(record.ground_truth) for record in _records()[:20]]
    other = next(iter(generated_records(1, seed=1)))
    assert other.record_id != _records()[0].record_id


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "easy"),
        ({"properties": {"a": {"properties": {"b": {}}}}}, "medium"),
        ({"properties": {"a": {"items": {"type": "string"}}}}, "medium"),
        ({"properties": {"a": {"items": {"properties": {"b": {}}}}}}, "hard"),
        (
            {"properties": {"a": {"properties": {"b": {"properties": {"c": {}}}}}}},
            "hard",
        ),
        (True, "easy"),
    ],
)
def test_complexity_is_the_papers(schema: Json, expected: str) -> None:
    """Arrays of objects or three levels are hard, two levels medium."""
    assert complexity_of(schema) == expected
