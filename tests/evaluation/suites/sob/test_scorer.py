"""Answers and records that mean harm: each has its class or one clear line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadData
from evaluation.core.records import Record, Response
from evaluation.suites.sob.metrics import PUBLISHED, RECOMMENDED
from evaluation.suites.sob.records import SobRecord, suite_record
from evaluation.suites.sob.schemas import compile_schema
from evaluation.suites.sob.scorer import SobScorer

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Verdict
    from evaluation.suites.sob.metrics import ScoringRules

_BOTH = pytest.mark.parametrize("rules", [RECOMMENDED, PUBLISHED], ids=lambda r: r.name)


def _record(truth: Json, schema: Json) -> Record:
    return suite_record(
        SobRecord(
            record_id="r",
            source="image",
            context="c",
            question="q",
            json_schema=schema,
            ground_truth=truth,
            schema_complexity="hard",
        )
    )


def _judge(
    text: str | None,
    truth: Json,
    schema: Json = True,  # noqa: FBT002 - a JSON Schema
    *,
    rules: ScoringRules = RECOMMENDED,
) -> Verdict:
    response = Response(record="r", text=text, error="" if text else "HTTP 500")
    return SobScorer(rules)(_record(truth, schema or {}))(response)


@_BOTH
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "value"),
        ('"x"', "parse"),
        ("null", "parse"),
        ("", "parse"),
        ("[" * 10_000 + "]" * 10_000, "parse"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "parse"),
        ("9" * 5_000, "parse"),
        ("[" + "9" * 5_000 + "]", "parse"),
        ('{"a": "\\ud800"}', "parse"),
        ('{"a": 1}}', "parse"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_text_that_is_no_answer(
    text: str, expected: str, rules: ScoringRules
) -> None:
    """Lists, strings, null, depths and lengths are told apart, and none raises."""
    verdict = _judge(text, {"a": 1}, rules=rules)
    assert verdict.failure_class in {expected, "missing_path"}
    assert verdict.failure_class == expected or text == "[]"
    assert verdict.reasons


def test_no_answer_says_why() -> None:
    """What a server failed with is the reason."""
    verdict = _judge(None, {"a": 1})
    assert (verdict.failure_class, verdict.reasons) == ("no_answer", ("HTTP 500",))


@_BOTH
def test_ten_megabytes_are_judged(rules: ScoringRules) -> None:
    """A long answer costs time, and has its class."""
    text = json.dumps({"a": "x" * 10_000_000})
    verdict = _judge(text, {"a": "x"}, rules=rules)
    assert verdict.failure_class == "value"


def test_not_a_number_is_no_json_but_for_the_code() -> None:
    """Python's parser takes NaN, and so did the authors'."""
    text = '{"a": NaN, "b": 1}'
    assert _judge(text, {"a": 1, "b": 1}).failure_class == "parse"
    verdict = _judge(text, {"a": 1, "b": 1}, rules=PUBLISHED)
    assert verdict.failure_class == "value"
    assert verdict.scores["value_accuracy"] == 0.5


def test_a_key_twice_counts_the_last_one_and_is_told() -> None:
    """RFC 8259 lets a reader choose; ours says what it chose."""
    verdict = _judge('{"a": 2, "a": 1}', {"a": 1})
    assert verdict.passed
    assert verdict.reasons == ("repeated keys, of which the last counts: a",)


def test_keys_may_hold_dots_brackets_and_slashes() -> None:
    """Paths are JSON pointers, in which every key has a place."""
    truth: Json = {"a.b": {"c[0]": 1}, "d/e": {"~f": 2}}
    assert _judge(json.dumps(truth), truth).passed
    verdict = _judge('{"a": {"b": {"c": [1]}}, "d/e": {"~f": 3}}', truth)
    assert verdict.failure_class == "value"
    assert verdict.reasons[0] == "value at /d~1e/~0f"
    assert verdict.scores["path_recall"] == 0.5


def test_one_is_not_true_and_is_one_point_zero() -> None:
    """JSON's own equality decides."""
    assert _judge('{"a": 1.0}', {"a": 1}).passed
    assert _judge('{"a": true}', {"a": 1}).failure_class == "value"


@_BOTH
def test_a_schema_that_no_validator_takes_has_its_class(rules: ScoringRules) -> None:
    """Every answer to such a record is in it, the right one too."""
    verdict = _judge('{"a": 1}', {"a": 1}, {"type": "nothing"}, rules=rules)
    assert verdict.failure_class == "unusable_schema"
    assert verdict.details["doubts"] == ["unusable_schema"]
    assert verdict.scores["perfect"] == 1
    assert verdict.counted


@_BOTH
def test_a_truth_that_its_schema_refuses_is_doubtful(rules: ScoringRules) -> None:
    """The record is told, and no answer to it can be perfect and valid."""
    verdict = _judge('{"a": 1}', {"a": 1}, {"required": ["b"]}, rules=rules)
    assert verdict.failure_class == "schema"
    assert verdict.details["doubts"] == ["invalid_truth"]
    assert verdict.scores["perfect_and_valid"] == 0


def test_a_record_of_another_suite_is_refused() -> None:
    """A record without a context and a truth is none of this suite."""
    other = Record(id="x", fields={"number": 3})
    with pytest.raises(BadData, match="no record of suite sob"):
        SobScorer(RECOMMENDED)(other)


def test_a_scorer_tells_two_records_of_one_key_apart() -> None:
    """What is kept of a record is not used for another one."""
    scorer = SobScorer(RECOMMENDED)
    answer = Response(record="r", text='{"a": 1}')
    assert scorer(_record({"a": 1}, {}))(answer).passed
    assert not scorer(_record({"a": 2}, {}))(answer).passed
    assert not scorer(_record({"a": 1}, {"not": {}}))(answer).passed


@_BOTH
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"properties": {"a": {"multipleOf": 0.01}}},
        {"$schema": "https://example.org/nobody-knows"},
        {"$schema": 7},
        {"properties": {"a": 1}},
        {"items": [{"type": "string"}]},
    ],
    ids=str,
)
def test_schemas_of_every_kind_of_trouble(schema: Json, rules: ScoringRules) -> None:
    """None raises; each verdict is one of the classes."""
    for text in ('{"a": "aaaaaaaaaaaaaaa!"}', "[1]"):
        verdict = _judge(text, {"a": 1}, schema, rules=rules)
        assert verdict.failure_class


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ('{"a": 1}', 1, 1),
        ('```json\n{"a": 1}\n```', 0, 1),
        ('<think>one?</think>{"a": 1}', 1, 1),
        ('Here: {"a": 1}. Done.', 0, 1),
        ('"{\\"a\\": 1}"', 0, 1),
        ("nothing", 0, 0),
        ('{"a": ', 0, 0),
        ('<think>{"a": 1}', 0, 0),
    ],
)
def test_lenient_figures_stand_beside_strict_ones(
    text: str, strict: float, lenient: float
) -> None:
    """Only the lenient figures forgive a fence and words around."""
    verdict = _judge(text, {"a": 1})
    for name in ("json_parse", "value_accuracy", "perfect"):
        assert verdict.scores[name] == strict
        assert verdict.scores[f"lenient_{name}"] == lenient


@pytest.mark.parametrize("schema", [[1], 5, "x", None])
def test_a_schema_that_is_none_is_named_as_such(schema: Json) -> None:
    """Any JSON may stand there; no answer is valid under it."""
    assert "no object and no boolean" in (compile_schema(schema, None).refusal(1) or "")
    # With what jsonschema itself is asked.
    assert compile_schema(schema, "draft-07").refusal(1)
