"""The scorer against the authors' figures, laws, and answers that mean harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from curation.system.errors import BadData
from evaluation.core.records import Record, Response
from evaluation.suites.sob.metrics import (
    SEVEN,
    Expectation,
    Metric,
    SobSettings,
    all_leaves,
    compile_schema,
    path_text,
    score_answer,
)
from evaluation.suites.sob.records import SobRecord, Source, suite_record
from evaluation.suites.sob.scorer import leaf_mistakes, mistake_of, sob_scorer
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Verdict


RECOMMENDED = SobSettings()
PUBLISHED = SobSettings(reading="paper")
_BOTH = pytest.mark.parametrize("rules", [RECOMMENDED, PUBLISHED])


def _record(truth: Json, schema: Json, source: Source = "text") -> Record:
    return suite_record(
        SobRecord(
            record_id="r",
            source=source,
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
    rules: SobSettings = RECOMMENDED,
    source: Source = "text",
) -> Verdict:
    response = Response(record="r", text=text, error="" if text else "HTTP 500")
    return sob_scorer(rules)(_record(truth, schema, source))(response)


def test_each_claim_holds_in_the_readings_that_it_is_of(
    subtests: pytest.Subtests,
) -> None:
    """Metrics, class and reasons; where the readings differ, each has its figure."""
    for row in table(__file__, "scores"):
        for rules in (RECOMMENDED, PUBLISHED):
            expected = {**row.get("both", {}), **row.get(rules.reading, {})}
            asked = {name: row[name] for name in ("schema", "source") if name in row}
            verdict = _judge(row["text"], row["truth"], **asked, rules=rules)
            found: dict[str, float | str] = {"class": verdict.failure_class}
            found |= {name: round(it, 4) for name, it in verdict.scores.items()}
            reasons = " ".join(verdict.reasons)
            with subtests.test(row["claim"], rules=rules.reading):
                assert expected.pop("reason", "") in reasons
                assert {name: found[name] for name in expected} == expected
                assert verdict.counted


@_BOTH
@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        "9" * 5_000,
        "[" + "9" * 5_000 + "]",
    ],
    ids=lambda value: str(value)[:12],
)
def test_depths_and_lengths_are_no_answer(text: str, rules: SobSettings) -> None:
    """None raises, and each says why."""
    verdict = _judge(text, {"a": 1}, rules=rules)
    assert verdict.failure_class == "parse"
    assert verdict.reasons


def test_no_answer_says_why() -> None:
    """What a server failed with is the reason."""
    verdict = _judge(None, {"a": 1})
    assert (verdict.failure_class, verdict.reasons) == ("no_answer", ("HTTP 500",))


@_BOTH
def test_ten_megabytes_are_judged(rules: SobSettings) -> None:
    """A long answer costs time, and has its class."""
    text = json.dumps({"a": "x" * 10_000_000})
    verdict = _judge(text, {"a": "x"}, rules=rules)
    assert verdict.failure_class == "value"


def test_a_record_of_another_suite_is_refused() -> None:
    """A record without a context and a truth is none of this suite."""
    other = Record(id="x", fields={"number": 3})
    with pytest.raises(BadData, match="no record of suite sob"):
        sob_scorer(RECOMMENDED)(other)


def test_a_scorer_tells_two_records_of_one_key_apart() -> None:
    """What is kept of a record is not used for another one."""
    scorer = sob_scorer(RECOMMENDED)
    answer = Response(record="r", text='{"a": 1}')
    assert scorer(_record({"a": 1}, {}))(answer).passed
    assert not scorer(_record({"a": 2}, {}))(answer).passed
    assert not scorer(_record({"a": 1}, {"not": {}}))(answer).passed


@_BOTH
@pytest.mark.parametrize(
    "schema",
    table(__file__, "troubles"),
    ids=str,
)
def test_schemas_of_every_kind_of_trouble(schema: Json, rules: SobSettings) -> None:
    """None raises; each verdict is one of the classes."""
    for text in ('{"a": "aaaaaaaaaaaaaaa!"}', "[1]"):
        verdict = _judge(text, {"a": 1}, schema, rules=rules)
        assert verdict.failure_class


@pytest.mark.parametrize("schema", [[1], 5, "x", None])
def test_a_schema_that_is_none_is_named_as_such(schema: Json) -> None:
    """Any JSON may stand there; no answer is valid under it."""
    assert "no object and no boolean" in (compile_schema(schema, None).refusal(1) or "")
    # With what jsonschema itself is asked.
    assert compile_schema(schema, "draft-07").refusal(1)


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    table(__file__, "leaf_classes"),
)
def test_the_class_of_one_leaf(truth: Json, answer: Json, expected: str) -> None:
    """A right value of a wrong type is a mistake of type; others are of value."""
    found = leaf_mistakes(
        all_leaves({"a": truth}), all_leaves({"a": answer}), RECOMMENDED
    )
    assert [*found.values()] == [expected]


def test_missing_and_spurious_paths_are_named_where_they_are() -> None:
    """A renamed key is one path too few and one too many."""
    found = leaf_mistakes(
        all_leaves({"a": {"x": 1}, "b": [1, 2]}),
        all_leaves({"a": {"y": 1}, "b": [1]}),
        RECOMMENDED,
    )
    assert [(path_text(path), str(kind)) for path, kind in found.items()] == [
        ("a.x", "missing_path"),
        ("b[1]", "missing_path"),
        ("a.y", "spurious_path"),
    ]


def test_under_pythons_equality_true_is_no_mistake_for_one() -> None:
    """The classes follow the reading's equality."""
    leaves = (all_leaves({"a": 1}), all_leaves({"a": True}))
    assert not leaf_mistakes(*leaves, PUBLISHED)
    assert leaf_mistakes(*leaves, RECOMMENDED)


_QUAY: dict[str, Json] = {
    "name": "the Old Quay",
    "day": "2024-01-31",
    "kind": "a",
    "size": 7,
    "on": True,
    "note": "so be it",
    "gone": None,
    "tags": ["red", "deep blue"],
    "parts": [*range(12, 29)],
}
_QUAY_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "day": {"type": "string"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "size": {"type": "integer"},
        "on": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "gone": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["name", "size", "kind"],
}


def test_a_fault_lowers_its_metrics_and_no_other(subtests: pytest.Subtests) -> None:
    """Each has its class, by both readings but for NaN."""
    for fault, text, stay, mistake, because in table(__file__, "faults"):
        for rules in (RECOMMENDED, PUBLISHED):
            if fault == "NaN" and rules is PUBLISHED:
                continue
            with subtests.test(fault, rules=rules.reading):
                verdict = _judge(text, _QUAY, _QUAY_SCHEMA, rules=rules)
                assert verdict.failure_class == mistake
                if rules is RECOMMENDED:
                    scores = verdict.scores
                    assert [it for it in Metric if scores[it] == 1] == stay
                    assert because in " ".join(verdict.reasons)


_NAMES = st.sampled_from(["a", "b", "a.b", "c[0]", "0", ""])
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -0.0, 1e300])
    | st.sampled_from(["", "the", "A man", "a man, a plan", "1", "true", "é!"])
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3)
    ),
    max_leaves=8,
)
_ROOTS = st.dictionaries(_NAMES, _VALUES, max_size=4) | st.lists(_VALUES, max_size=3)
_SCHEMAS = st.sampled_from(
    [
        True,
        {"type": "object"},
        {"type": "object", "required": ["a"]},
        {"properties": {"a": {"type": "string"}}, "additionalProperties": {}},
        {"type": ["object", "array"], "items": {"type": "object"}},
    ]
)
_SOURCES = st.sampled_from(["text", "image"])
_RULES = st.sampled_from([RECOMMENDED, PUBLISHED])


def _shuffled(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _shuffled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return list(map(_shuffled, value))
    return value


@settings(max_examples=25)
@given(_ROOTS, _VALUES, _SCHEMAS, _SOURCES, _RULES)
def test_every_figure_is_between_0_and_1(
    truth: Json, answer: Json, schema: Json, source: str, rules: SobSettings
) -> None:
    """No truth, answer, schema, source or reading takes a figure out of [0, 1]."""
    found = score_answer(answer, Expectation.of(truth, schema, source, rules))
    figures = [*found.values.values(), found.gate]
    assert set(found.values) == set(Metric)
    assert all(0 <= figure <= 1 for figure in figures)


@settings(max_examples=25)
@given(_ROOTS, _ROOTS, _SCHEMAS, _SOURCES, _RULES)
def test_the_order_of_keys_changes_nothing(
    truth: Json, answer: Json, schema: Json, source: str, rules: SobSettings
) -> None:
    """Truth and answer may have their keys in any order."""
    # Two paths of one text are told apart by nothing but their order.
    rules = replace(rules, reading="recommended")
    expected = Expectation.of(truth, schema, source, rules)
    turned = Expectation.of(_shuffled(truth), schema, source, rules)
    before = score_answer(answer, expected)
    assert score_answer(_shuffled(answer), turned).values == pytest.approx(
        before.values
    )


@settings(max_examples=25)
@given(_ROOTS, _SOURCES, _RULES)
def test_the_truth_itself_is_worth_everything(
    truth: Json, source: str, rules: SobSettings
) -> None:
    """Where the truth has a leaf, the truth as the answer has every metric at 1."""
    rules = replace(rules, reading="recommended")
    expected = Expectation.of(truth, _schema_of(truth), source, rules)
    found = score_answer(truth, expected)
    if expected.compared:
        assert set(found.values.values()) == {1.0}


def _schema_of(value: Json) -> Json:
    """Return a schema that names every place of a value and requires none."""
    if isinstance(value, dict):
        return {
            "properties": {name: _schema_of(inner) for name, inner in value.items()}
        }
    if isinstance(value, list) and value:
        return {"prefixItems": list(map(_schema_of, value)), "items": {}}
    return {}


@settings(max_examples=25)
@given(_ROOTS, _ROOTS, _SCHEMAS, _SOURCES, _RULES)
def test_the_gate_and_hardening_never_raise_a_figure(
    truth: Json, answer: Json, schema: Json, source: str, rules: SobSettings
) -> None:
    """What is gated or hardened is at most what it is without."""
    gated = (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS)
    strict = score_answer(answer, Expectation.of(truth, schema, source, rules))
    lenient = score_answer(answer, Expectation.of(truth, {}, source, rules))
    for metric in SEVEN:
        if metric not in {Metric.TYPE_SAFETY, Metric.JSON_PASS}:
            assert strict.values[metric] <= lenient.values[metric]
    for metric in gated:
        assert strict.values[metric] <= strict.gate


@settings(max_examples=25)
@given(
    st.dictionaries(st.sampled_from("abcdef"), _SCALARS, min_size=1),
    st.data(),
    _SOURCES,
)
def test_adding_a_right_leaf_lowers_nothing(
    truth: dict[str, Json], data: st.DataObject, source: str
) -> None:
    """An answer with one more leaf of the truth is worth at least as much."""
    lacking = data.draw(st.sampled_from(sorted(truth)))
    answer = {
        name: data.draw(st.sampled_from([value, "wrong", 7, None]))
        for name, value in truth.items()
        if name != lacking
    }
    answer.update(data.draw(st.dictionaries(st.sampled_from("xyz"), _SCALARS)))
    schema = _schema_of(truth)
    expected = Expectation.of(truth, schema, source, RECOMMENDED)
    less = score_answer(answer, expected)
    more = score_answer({**answer, lacking: truth[lacking]}, expected)
    for metric in Metric:
        assert more.values[metric] >= less.values[metric] - 1e-12, metric


@settings(max_examples=25)
@given(_ROOTS, _ROOTS, _SCHEMAS, _RULES)
def test_an_answer_is_perfect_if_and_only_if_no_leaf_is_wrong(
    truth: Json, answer: Json, schema: Json, rules: SobSettings
) -> None:
    """Each wrong leaf is of one class, and the whole answer of one."""
    expected = Expectation.of(truth, schema, "text", rules)
    found = score_answer(answer, expected)
    wrong = leaf_mistakes(expected.leaves, all_leaves(answer), rules)
    assert bool(wrong) is not bool(found.values[Metric.PERFECT])
    mistake = mistake_of(found, wrong, unusable=False)
    assert (mistake is None) is bool(found.values[Metric.PERFECT] and found.hardening)
