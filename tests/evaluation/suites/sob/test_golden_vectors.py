"""The scorer against figures that the authors' own code gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.suites.sob.metrics import (
    PUBLISHED,
    RECOMMENDED,
    Expectation,
    Metric,
    score_answer,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics import ScoringRules

_ANY: Json = {"type": "object"}
_DIRECTOR: Json = {"name": "Hal Ashby", "nationality": "American", "is_alive": False}
_DIRECTOR_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "nationality": {"type": "string"},
        "is_alive": {"type": "boolean"},
    },
    "required": ["name", "nationality", "is_alive"],
}
_BOTH = pytest.mark.parametrize("rules", [RECOMMENDED, PUBLISHED], ids=lambda r: r.name)


def _scores(
    truth: Json,
    answer: Json,
    schema: Json = _ANY,
    *,
    rules: ScoringRules,
    source: str = "text",
) -> dict[str, float]:
    expected = Expectation.of(truth, schema, source, rules)
    found = score_answer(answer, expected).values
    return {str(metric): round(value, 4) for metric, value in found.items()}


@_BOTH
def test_the_worked_example_of_the_paper(rules: ScoringRules) -> None:
    """Appendix F: one nationality of three leaves is wrong."""
    answer = {**_DIRECTOR, "nationality": "United States"}  # type: ignore[dict-item] # an object
    found = _scores(_DIRECTOR, answer, _DIRECTOR_SCHEMA, rules=rules)
    assert found[Metric.JSON_PASS] == 1
    assert found[Metric.VALUE_ACCURACY] == 0.6667
    assert found[Metric.FAITHFULNESS] == 0.6667
    assert found[Metric.PATH_RECALL] == 1
    assert found[Metric.STRUCTURE_COVERAGE] == 1
    assert found[Metric.TYPE_SAFETY] == 1
    assert found[Metric.PERFECT] == 0


@_BOTH
def test_a_spurious_leaf_meets_the_hard_gate_and_the_soft_one(
    rules: ScoringRules,
) -> None:
    """Coverage 0.8 makes a text worth nothing and an image worth (0.8 / 0.9)^2."""
    truth: Json = {"a": 1, "b": 2}
    answer: Json = {"a": 1, "b": 2, "c": 3}
    text = _scores(truth, answer, rules=rules)
    assert text[Metric.STRUCTURE_COVERAGE] == 0.8
    assert text[Metric.VALUE_ACCURACY] == 0
    assert text[Metric.PATH_RECALL] == 1
    image = _scores(truth, answer, rules=rules, source="image")
    assert image[Metric.VALUE_ACCURACY] == 0.7901
    assert _scores(truth, answer, rules=rules, source="audio") == image


@_BOTH
def test_order_of_items_counts(rules: ScoringRules) -> None:
    """The right values in the wrong order have the right paths and nothing else."""
    found = _scores({"a": ["x", "y"]}, {"a": ["y", "x"]}, rules=rules)
    assert found[Metric.VALUE_ACCURACY] == 0
    assert found[Metric.FAITHFULNESS] == 0
    assert found[Metric.PATH_RECALL] == 1
    assert found[Metric.STRUCTURE_COVERAGE] == 1
    assert found[Metric.PERFECT] == 0


@_BOTH
def test_a_violation_takes_everything_but_perfection(rules: ScoringRules) -> None:
    """The truth itself, where its schema refuses it, is perfect and worth nothing."""
    schema: Json = {"type": "object", "required": ["b"]}
    found = _scores({"a": 1}, {"a": 1}, schema, rules=rules)
    assert found[Metric.PERFECT] == 1
    assert found[Metric.PERFECT_AND_VALID] == 0
    assert found[Metric.JSON_PARSE] == 1
    rest = set(found) - {Metric.PERFECT, Metric.JSON_PARSE}
    assert {found[name] for name in rest} == {0}


@_BOTH
def test_a_string_that_holds_json_is_not_parsed_again(rules: ScoringRules) -> None:
    """A candidate that is a string counts as not parsed, whatever it holds."""
    found = _scores({"a": 1}, '{"a":1}', rules=rules)
    assert set(found.values()) == {0}


@_BOTH
def test_an_empty_array_is_no_leaf(rules: ScoringRules) -> None:
    """A truth of nothing but an empty array has no leaf to be met."""
    found = _scores({"a": []}, {"a": []}, rules=rules)
    assert found[Metric.VALUE_ACCURACY] == 0
    assert found[Metric.PATH_RECALL] == 0
    assert found[Metric.STRUCTURE_COVERAGE] == 0
    assert found[Metric.PERFECT] == 1


def test_a_missing_null_is_met_by_the_code_and_not_by_the_paper() -> None:
    """A null of the truth that is left out: F 0.5487 by the code, 0.2743 on paper."""
    truth: Json = {"a": None, "b": "x"}
    for rules, expected in ((PUBLISHED, 0.5487), (RECOMMENDED, 0.2743)):
        found = _scores(truth, {"b": "x"}, rules=rules, source="image")
        assert found[Metric.FAITHFULNESS] == expected
        assert found[Metric.VALUE_ACCURACY] == 0.2743


def test_true_is_one_by_python_and_not_by_json() -> None:
    """`true` for 1 is exact under Python's equality alone."""
    schema: Json = {"type": "object"}
    for rules, expected in ((PUBLISHED, 1), (RECOMMENDED, 0)):
        found = _scores({"a": 1}, {"a": True}, schema, rules=rules)
        assert found[Metric.VALUE_ACCURACY] == expected
        assert found[Metric.PERFECT] == 0
        assert found[Metric.FAITHFULNESS] == 0


def test_one_and_one_point_zero_share_their_words_but_for_the_code() -> None:
    """1.0 for 1 is exact in both readings; by the code its words are `1` and `1 0`."""
    for rules, expected in ((PUBLISHED, 0.6667), (RECOMMENDED, 1)):
        found = _scores({"a": 1}, {"a": 1.0}, rules=rules)
        assert found[Metric.VALUE_ACCURACY] == 1
        assert found[Metric.FAITHFULNESS] == expected
        # The code compares the texts of both, the paper says nothing of numbers.
        assert found[Metric.PERFECT] == (rules is RECOMMENDED)


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": ["string", "null"]}, None),
        ({"$ref": "#/definitions/s"}, "x"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ({"type": ["string", "integer"]}, 3),
        ({"type": "integer"}, 1.0),
        ({"enum": ["x", 1]}, 1),
        ({"allOf": [{"$ref": "#/definitions/s"}, {"maxLength": 3}]}, "x"),
    ],
    ids=["null", "ref", "anyOf", "two-types", "1.0", "enum", "allOf"],
)
def test_types_behind_references_and_unions(schema: Json, answer: Json) -> None:
    """A type that is allowed there is right; the code knows nothing but `type`."""
    whole: Json = {
        "type": "object",
        "properties": {"a": schema},
        "definitions": {"s": {"type": "string"}},
    }
    for rules, expected in ((PUBLISHED, 0), (RECOMMENDED, 1)):
        found = _scores({"a": answer}, {"a": answer}, whole, rules=rules)
        assert found[Metric.TYPE_SAFETY] == expected, rules.name


@_BOTH
def test_type_safety_is_hardened(rules: ScoringRules) -> None:
    """As in every table of the paper, no type is right in an answer that fails."""
    answer: Json = {"name": "Hal Ashby", "is_alive": False}
    found = _scores(_DIRECTOR, answer, _DIRECTOR_SCHEMA, rules=rules)
    assert found[Metric.JSON_PASS] == 0
    assert found[Metric.TYPE_SAFETY] == 0


def test_a_dot_in_a_key_is_a_path_of_its_own_but_for_the_code() -> None:
    """`{"a.b": 1}` answers `{"a": {"b": 1}}` by the code alone."""
    truth: Json = {"a": {"b": 1}, "c": [2]}
    answer: Json = {"a.b": 1, "c[0]": 2}
    for rules, expected in ((PUBLISHED, 1), (RECOMMENDED, 0)):
        found = _scores(truth, answer, rules=rules)
        assert found[Metric.PATH_RECALL] == expected
        assert found[Metric.VALUE_ACCURACY] == expected
        assert found[Metric.PERFECT] == 0


def test_a_key_of_digits_is_no_index() -> None:
    """An object with the key `0` has not the path of an array's first item."""
    found = _scores({"a": ["x"]}, {"a": {"0": "x"}}, rules=RECOMMENDED)
    assert found[Metric.PATH_RECALL] == 0


def test_the_dialect_is_the_declared_one_but_for_the_code() -> None:
    """`prefixItems` says nothing in draft-07, which is what the code reads."""
    schema: Json = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"a": {"prefixItems": [{"type": "string"}]}},
    }
    for rules, expected in ((PUBLISHED, 1), (RECOMMENDED, 0)):
        found = _scores({"a": [1]}, {"a": [1]}, schema, rules=rules)
        assert found[Metric.JSON_PASS] == expected


@_BOTH
def test_formats_are_annotations(rules: ScoringRules) -> None:
    """No reading asserts a format."""
    schema: Json = {"properties": {"a": {"format": "date"}}}
    found = _scores({"a": "soon"}, {"a": "soon"}, schema, rules=rules)
    assert found[Metric.JSON_PASS] == 1


@_BOTH
@pytest.mark.parametrize(
    "schema",
    [
        {"type": 3},
        {"type": "strnig"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/never-fetched.json"},
        False,
        {"properties": {"a": {"pattern": "("}}},
    ],
    ids=["type-3", "misspelt", "lost-ref", "remote-ref", "false", "pattern"],
)
def test_a_schema_that_accepts_nothing_or_is_none(
    schema: Json, rules: ScoringRules
) -> None:
    """An invalid schema lets no answer pass and raises nothing; `a` must be text."""
    expected = Expectation.of({"a": "x"}, schema, "text", rules)
    found = score_answer({"a": "x"}, expected)
    assert found.values[Metric.JSON_PASS] == 0
    assert found.refusal
    assert found.values[Metric.PERFECT] == 1
