"""The scorer against the authors' figures, laws, and answers that mean harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from evaluation.suites.sob.suite import leaf_mistakes, sob_scorer
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
    ("text", "expected"),
    [
        ("[" * 10_000 + "]" * 10_000, "parse"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "parse"),
        ("9" * 5_000, "parse"),
        ("[" + "9" * 5_000 + "]", "parse"),
        (json.dumps({"a": "x" * 10_000_000}), "value"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_text_of_any_size_has_a_class(
    text: str, expected: str, rules: SobSettings
) -> None:
    """None raises, and each says why."""
    verdict = _judge(text, {"a": "x"}, rules=rules)
    assert verdict.failure_class == expected
    assert verdict.reasons


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
@pytest.mark.parametrize("schema", table(__file__, "troubles"), ids=str)
def test_schemas_of_every_kind_of_trouble(schema: Json, rules: SobSettings) -> None:
    """None raises; each verdict is one of the classes."""
    for text in ('{"a": "aaaaaaaaaaaaaaa!"}', "[1]"):
        verdict = _judge(text, {"a": 1}, schema, rules=rules)
        assert verdict.failure_class


@pytest.mark.parametrize("schema", [[1], 5, "x", None])
def test_a_schema_that_is_none_is_named_as_such(schema: Json) -> None:
    """Any JSON may stand there; no answer is valid under it."""
    refusal = compile_schema(schema, RECOMMENDED).refusal(1)
    assert "no object and no boolean" in (refusal or "")
    # With what jsonschema itself is asked.
    assert compile_schema(schema, PUBLISHED).refusal(1)


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        *(({"a": truth}, {"a": answer}, {"a": kind})
          for truth, answer, kind in table(__file__, "leaf_classes")),
        # A renamed key is one path too few and one too many.
        ({"a": {"x": 1}, "b": [1, 2]}, {"a": {"y": 1}, "b": [1]}, {
            "a.x": "missing_path", "b[1]": "missing_path", "a.y": "spurious_path",
        }),
    ],
)  # fmt: skip
def test_every_wrong_leaf_has_its_class(
    truth: Json, answer: Json, expected: dict[str, str]
) -> None:
    """A right value of a wrong type is a mistake of type; others are of value."""
    found = leaf_mistakes(all_leaves(truth), all_leaves(answer), RECOMMENDED)
    assert {path_text(path): str(kind) for path, kind in found.items()} == expected


def test_each_reading_has_its_own_validator() -> None:
    """0.3 is a multiple of 0.1, but not by the arithmetic of the published one."""
    published, ours = (
        compile_schema({"multipleOf": 0.1}, rules).refusal(0.3)
        for rules in (PUBLISHED, RECOMMENDED)
    )
    assert published == "0.3 is not a multiple of 0.1"
    assert ours is None


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


def _expected(
    truth: Json, schema: Json, source: str, rules: SobSettings
) -> Expectation:
    return Expectation.of(truth, compile_schema(schema, rules), source, rules)


@settings(max_examples=60)
@given(_ROOTS, _ROOTS, _SCHEMAS, _SOURCES, _RULES)
def test_laws_of_the_metrics(
    truth: Json, answer: Json, schema: Json, source: str, rules: SobSettings
) -> None:
    """Whatever truth, answer, schema, source and reading."""
    expected = _expected(truth, schema, source, rules)
    found = score_answer(answer, expected).values
    assert set(found) == set(Metric)
    assert all(0 <= figure <= 1 for figure in found.values())
    # What is hardened is at most what it is under a schema that accepts everything.
    lenient = score_answer(answer, _expected(truth, {}, source, rules)).values
    for metric in {*SEVEN} - {Metric.TYPE_SAFETY, Metric.JSON_PASS}:
        assert found[metric] <= lenient[metric]
    # An answer is perfect if and only if no leaf is wrong.
    wrong = leaf_mistakes(expected.leaves, all_leaves(answer), rules)
    assert bool(wrong) is not bool(found[Metric.PERFECT])
    # By the code, two paths of one text are told apart by nothing but their order.
    if rules is RECOMMENDED:
        turned = _expected(_shuffled(truth), schema, source, rules)
        again = score_answer(_shuffled(answer), turned).values
        assert again == pytest.approx(found)


@settings(max_examples=25)
@given(_ROOTS, _SOURCES)
def test_the_truth_itself_is_worth_everything(truth: Json, source: str) -> None:
    """Where the truth has a leaf, the truth as the answer has every metric at 1."""
    expected = _expected(truth, _schema_of(truth), source, RECOMMENDED)
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
    expected = _expected(truth, _schema_of(truth), source, RECOMMENDED)
    less = score_answer(answer, expected)
    more = score_answer({**answer, lacking: truth[lacking]}, expected)
    for metric in Metric:
        assert more.values[metric] >= less.values[metric] - 1e-12, metric
