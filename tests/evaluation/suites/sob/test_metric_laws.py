"""Laws that the metrics keep for every truth and every answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.sob.metrics import (
    PUBLISHED,
    RECOMMENDED,
    SEVEN,
    Expectation,
    Metric,
    all_leaves,
    score_answer,
)
from evaluation.suites.sob.scorer import leaf_mistakes, mistake_of

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics import ScoringRules

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
_RULES = st.sampled_from(
    [RECOMMENDED, PUBLISHED, replace(RECOMMENDED, empty_leaves=True)]
)


def _shuffled(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _shuffled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return list(map(_shuffled, value))
    return value


@settings(max_examples=25)
@given(_ROOTS, _VALUES, _SCHEMAS, _SOURCES, _RULES)
def test_every_figure_is_between_0_and_1(
    truth: Json, answer: Json, schema: Json, source: str, rules: ScoringRules
) -> None:
    """No truth, answer, schema, source or reading takes a figure out of [0, 1]."""
    found = score_answer(answer, Expectation.of(truth, schema, source, rules))
    figures = [*found.values.values(), found.gate]
    assert set(found.values) == set(Metric)
    assert all(0 <= figure <= 1 for figure in figures)


@settings(max_examples=25)
@given(_ROOTS, _ROOTS, _SCHEMAS, _SOURCES, _RULES)
def test_the_order_of_keys_changes_nothing(
    truth: Json, answer: Json, schema: Json, source: str, rules: ScoringRules
) -> None:
    """Truth and answer may have their keys in any order."""
    # Two paths of one text are told apart by nothing but their order.
    if not rules.exact_paths:
        rules = replace(rules, exact_paths=True)
    expected = Expectation.of(truth, schema, source, rules)
    turned = Expectation.of(_shuffled(truth), schema, source, rules)
    before = score_answer(answer, expected)
    assert score_answer(_shuffled(answer), turned).values == pytest.approx(
        before.values
    )


@settings(max_examples=25)
@given(_ROOTS, _SOURCES, _RULES)
def test_the_truth_itself_is_worth_everything(
    truth: Json, source: str, rules: ScoringRules
) -> None:
    """Where the truth has a leaf, the truth as the answer has every metric at 1."""
    rules = replace(rules, empty_leaves=True, looked_up_types=False, exact_paths=True)
    schema = _schema_of(truth)
    found = score_answer(truth, Expectation.of(truth, schema, source, rules))
    if truth:
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
    truth: Json, answer: Json, schema: Json, source: str, rules: ScoringRules
) -> None:
    """What is gated or hardened is at most what it is without."""
    free = replace(rules, text_floor=0.0, soft_floor=1e-9)
    strict = score_answer(answer, Expectation.of(truth, schema, source, rules))
    lenient = score_answer(answer, Expectation.of(truth, {}, "text", free))
    for metric in SEVEN:
        if metric in {Metric.TYPE_SAFETY, Metric.JSON_PASS}:
            continue
        assert strict.values[metric] <= lenient.values[metric]
    for metric in (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS):
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
    for rules in (RECOMMENDED, replace(RECOMMENDED, empty_leaves=True)):
        expected = Expectation.of(truth, schema, source, rules)
        less = score_answer(answer, expected)
        more = score_answer({**answer, lacking: truth[lacking]}, expected)
        for metric in Metric:
            assert more.values[metric] >= less.values[metric] - 1e-12, metric


@settings(max_examples=25)
@given(_ROOTS, _ROOTS, _SCHEMAS, _RULES)
def test_an_answer_is_perfect_if_and_only_if_no_leaf_is_wrong(
    truth: Json, answer: Json, schema: Json, rules: ScoringRules
) -> None:
    """Each wrong leaf is of one class, and the whole answer of one."""
    expected = Expectation.of(truth, schema, "text", rules)
    found = score_answer(answer, expected)
    wrong = leaf_mistakes(expected.leaves, all_leaves(answer), rules)
    assert bool(wrong) is not bool(found.values[Metric.PERFECT])
    assert len({leaf.path for leaf in wrong}) == len(wrong)
    mistake = mistake_of(found, wrong, unusable=False)
    assert (mistake is None) is bool(found.values[Metric.PERFECT_AND_VALID])
