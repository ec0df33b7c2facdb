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
from evaluation.suites.sob.records import SobRecord, suite_record
from evaluation.suites.sob.scorer import leaf_mistakes, mistake_of, sob_scorer
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Verdict


RECOMMENDED = SobSettings()
PUBLISHED = SobSettings(reading="paper")
_BOTH = pytest.mark.parametrize("rules", [RECOMMENDED, PUBLISHED])


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
    rules: SobSettings = RECOMMENDED,
) -> Verdict:
    response = Response(record="r", text=text, error="" if text else "HTTP 500")
    return sob_scorer(rules)(_record(truth, schema or {}))(response)


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
        ('{"a": 1}}', "parse"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_text_that_is_no_answer(text: str, expected: str, rules: SobSettings) -> None:
    """Lists, strings, null, depths and lengths are told apart, and none raises."""
    verdict = _judge(text, {"a": 1}, rules=rules)
    assert verdict.failure_class in {expected, "missing_path"}
    assert verdict.failure_class == expected or text == "[]"
    assert verdict.reasons


def test_half_of_a_surrogate_pair_is_json_for_the_published_code_alone() -> None:
    """As for Python's parser; the reasons of the verdict can be written."""
    text = '{"\\ud800": 1, "a": 1}'
    assert _judge(text, {"a": 1}).failure_class == "parse"
    verdict = _judge(text, {"a": 1}, rules=PUBLISHED)
    assert verdict.failure_class == "spurious_path"
    assert verdict.reasons[0].encode().endswith(b"\\ud800")


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
    """Every key has its place, whatever it is made of."""
    truth: Json = {"a.b": {"c[0]": 1}, "d/e": {"~f": 2}}
    assert _judge(json.dumps(truth), truth).passed
    verdict = _judge('{"a": {"b": {"c": [1]}}, "d/e": {"~f": 3}}', truth)
    assert verdict.failure_class == "value"
    assert verdict.reasons[0] == "value at d/e.~f"
    assert verdict.scores["path_recall"] == 0.5


def test_one_is_not_true_and_is_one_point_zero() -> None:
    """JSON's own equality decides."""
    assert _judge('{"a": 1.0}', {"a": 1}).passed
    assert _judge('{"a": true}', {"a": 1}).failure_class == "value"


@_BOTH
def test_a_schema_that_no_validator_takes_has_its_class(rules: SobSettings) -> None:
    """Every answer to such a record is in it, the right one too."""
    verdict = _judge('{"a": 1}', {"a": 1}, {"type": "nothing"}, rules=rules)
    assert verdict.failure_class == "unusable_schema"
    assert verdict.scores["perfect"] == 1
    assert verdict.counted


@_BOTH
def test_a_truth_that_its_schema_refuses_is_no_right_answer(rules: SobSettings) -> None:
    """No answer to it can be perfect and valid."""
    verdict = _judge('{"a": 1}', {"a": 1}, {"required": ["b"]}, rules=rules)
    assert verdict.failure_class == "schema"


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


def _scores(
    truth: Json,
    answer: Json,
    schema: Json = _ANY,
    *,
    rules: SobSettings,
    source: str = "text",
) -> dict[str, float]:
    expected = Expectation.of(truth, schema, source, rules)
    found = score_answer(answer, expected).values
    return {str(metric): round(value, 4) for metric, value in found.items()}


@_BOTH
def test_the_worked_example_of_the_paper(rules: SobSettings) -> None:
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
    rules: SobSettings,
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
@pytest.mark.parametrize(
    ("truth", "answer", "recall", "perfect"),
    [
        pytest.param(["x", "y"], ["y", "x"], 1, 0, id="the order of items counts"),
        pytest.param([], [], 0, 1, id="an empty array is no leaf to be met"),
    ],
)
def test_arrays(
    truth: Json, answer: Json, recall: int, perfect: int, rules: SobSettings
) -> None:
    """Right values in the wrong order have the right paths and nothing else."""
    found = _scores({"a": truth}, {"a": answer}, rules=rules)
    assert found[Metric.VALUE_ACCURACY] == found[Metric.FAITHFULNESS] == 0
    assert found[Metric.PATH_RECALL] == found[Metric.STRUCTURE_COVERAGE] == recall
    assert found[Metric.PERFECT] == perfect


@_BOTH
def test_a_violation_takes_everything_but_perfection(rules: SobSettings) -> None:
    """The truth itself, where its schema refuses it, is perfect and worth nothing."""
    schema: Json = {"type": "object", "required": ["b"]}
    found = _scores({"a": 1}, {"a": 1}, schema, rules=rules)
    assert found[Metric.PERFECT] == 1
    assert found[Metric.JSON_PARSE] == 1
    rest = set(found) - {Metric.PERFECT, Metric.JSON_PARSE}
    assert {found[name] for name in rest} == {0}


@_BOTH
def test_a_string_that_holds_json_is_not_parsed_again(rules: SobSettings) -> None:
    """A candidate that is a string counts as not parsed, whatever it holds."""
    found = _scores({"a": 1}, '{"a":1}', rules=rules)
    assert set(found.values()) == {0}


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
    table(__file__, "unions"),
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
        assert found[Metric.TYPE_SAFETY] == expected, rules


@_BOTH
def test_type_safety_is_hardened(rules: SobSettings) -> None:
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
def test_formats_are_annotations(rules: SobSettings) -> None:
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
    schema: Json, rules: SobSettings
) -> None:
    """An invalid schema lets no answer pass and raises nothing; `a` must be text."""
    expected = Expectation.of({"a": "x"}, schema, "text", rules)
    found = score_answer({"a": "x"}, expected)
    assert found.values[Metric.JSON_PASS] == 0
    assert found.refusal
    assert found.values[Metric.PERFECT] == 1


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
