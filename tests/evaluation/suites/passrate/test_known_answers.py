"""The suite tests itself: right answers pass, each mutated one fails as intended."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluation.asking.request import choose_suite
from evaluation.asking.self_test import kinds_table, self_test
from evaluation.core.records import Record
from tests.evaluation.suites.passrate.known_answers import known_answers

_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 9},
        "size": {"enum": ["s", "m"]},
        "parts": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "place": {
            "type": "object",
            "properties": {"row": {"type": "integer", "minimum": 1}},
            "required": ["row"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "size", "parts", "place"],
}
_OPEN = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "uniqueItems": True}}}


@pytest.mark.parametrize("mode", ["strict", "schema"])
def test_every_known_answer_gets_its_class(mode: str) -> None:
    """Over 20 kinds of mutated answers fail, and every right one passes."""
    chosen = choose_suite("passrate", {"mode": mode})
    records = [
        Record(id=f"r{place}", schema=json.dumps(schema))
        for place, schema in enumerate((_SCHEMA, _OPEN))
    ]
    mutants = replace(chosen.suite, known_answers=known_answers)
    tested = self_test(replace(chosen, suite=mutants), records, jobs=1)
    assert [answer for answer in tested if not answer.as_expected] == []
    failing = {answer.answer.kind for answer in tested if answer.answer.expected}
    assert len(failing) >= 38
    assert {"reference", "an undeclared member inside, forbidden"} <= {
        row[0] for row in kinds_table(tested).rows
    }


@pytest.mark.parametrize("mode", ["strict", "schema"])
def test_the_answers_of_the_selftest_get_their_classes(mode: str) -> None:
    """One of each class but those of values, and a right one."""
    chosen = choose_suite("passrate", {"mode": mode})
    record = Record(id="r", schema=json.dumps(_SCHEMA))
    tested = self_test(chosen, [record], jobs=1)
    assert [answer for answer in tested if not answer.as_expected] == []
    classes = {answer.answer.expected for answer in tested}
    assert len(classes) == (8 if mode == "strict" else 7)


def test_a_record_without_a_schema_has_no_known_answers() -> None:
    """Nor has one whose schema nothing can satisfy: there is no right answer."""
    chosen = choose_suite("passrate")
    records = [
        Record(id="none"),
        Record(id="false", schema="false"),
        Record(id="broken", schema="{"),
    ]
    assert self_test(chosen, records, jobs=1) == []


def test_a_schema_of_ones_own_without_a_dialect_is_scored() -> None:
    """A file that declares no `$schema` has the dialect that the benchmark decides."""
    chosen = choose_suite("passrate", {})
    record = Record(id="r", schema=json.dumps(_SCHEMA), dialect="")
    tested = self_test(chosen, [record], jobs=1)
    assert len(tested) > 5
    assert [answer for answer in tested if not answer.as_expected] == []
