"""Fields are compared as their annotation says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadData
from evaluation.suites.sob.comparison.annotations import (
    annotated_comparisons,
    without_annotations,
)
from evaluation.suites.sob.comparison.comparators import (
    COMPARATORS,
    DEFAULT_TOLERANCE,
    comparison_named,
)
from evaluation.suites.sob.comparison.scores import (
    FieldComparisons,
    annotated_accuracy,
)
from evaluation.suites.sob.metrics.rules import RECOMMENDED
from evaluation.suites.sob.metrics.scores import Expectation, score_answer

if TYPE_CHECKING:
    from curation.core.json_types import Json


@pytest.mark.parametrize(
    ("name", "truth", "answer", "expected"),
    [
        ("exact", 1, 1.0, True),
        ("exact", 1, True, False),
        ("exact", "a", "A", False),
        ("case_insensitive", "Hal  Ashby", "hal ashby", True),
        ("case_insensitive", "Hal Ashby", "Ashby", False),
        ("case_insensitive", "1", 1, False),
        ("case_insensitive", None, None, True),
        ("number_tolerance", 1_000, 1_000.9, True),
        ("number_tolerance", 1_000, 1_002, False),
        ("number_tolerance", 0, 0, True),
        ("number_tolerance", 0, 1e-9, False),
        ("number_tolerance", 5, "5", False),
        ("number_tolerance", 1, True, False),
        ("date", "2021-03-15", "15 March 2021", True),
        ("date", "2021-03-15", "March 15th, 2021", True),
        ("date", "2021-03-15", "15.3.2021", True),
        ("date", "2021-03-15", "2021-03-15T00:00:00Z", True),
        ("date", "2021-03-15", "03/15/2021", False),
        ("date", "2021-03-15", "16 March 2021", False),
        ("date", "2021-02-30", "30 February 2021", False),
        ("date", "soon", "soon", True),
        ("date", None, "2021-03-15", False),
    ],
)
def test_comparators(name: str, truth: Json, answer: Json, expected: object) -> None:
    """Each lets pass what it is for, and nothing else."""
    assert COMPARATORS[name](truth, answer, DEFAULT_TOLERANCE) is expected


def _accuracy(truth: Json, answer: Json, **named: str) -> float:
    places = {f"/{name.replace('__', '/*')}": text for name, text in named.items()}
    expected = Expectation.of(truth, {}, "image", RECOMMENDED)
    strict = score_answer(answer, expected)
    return annotated_accuracy(answer, expected, strict, FieldComparisons.of(places))


def test_a_set_has_no_order_and_a_list_has() -> None:
    """Only an array that is annotated as a set may have its items elsewhere."""
    truth: Json = {"a": ["x", "y"], "b": 1}
    answer: Json = {"a": ["y", "x"], "b": 1}
    assert _accuracy(truth, answer, a="set") == 1
    assert _accuracy(truth, answer, a="ordered") == pytest.approx(1 / 3)
    assert _accuracy(truth, answer) == pytest.approx(1 / 3)


def test_items_of_an_array_are_compared_by_their_own_annotation() -> None:
    """`/a/*` names every item."""
    assert _accuracy({"a": ["X", "Y"]}, {"a": ["x", "y"]}, a__="case_insensitive") == 1


def test_a_tolerance_may_be_given() -> None:
    """`number_tolerance:0.1` is ten per cent."""
    assert _accuracy({"a": 100}, {"a": 109}, a="number_tolerance:0.1") == 1
    assert _accuracy({"a": 100}, {"a": 111}, a="number_tolerance:0.1") == 0


def test_annotations_are_gated_like_value_accuracy() -> None:
    """A refused answer is worth nothing, however its fields are compared."""
    expected = Expectation.of({"a": 1}, {"required": ["b"]}, "image", RECOMMENDED)
    strict = score_answer({"a": 1}, expected)
    assert annotated_accuracy({"a": 1}, expected, strict, FieldComparisons.of({})) == 0


def test_schemas_say_it_as_extract_bench_does() -> None:
    """By a preset, or by a metric with its parameters; models do not see it."""
    schema: Json = {
        "properties": {
            "name": {"type": "string", "evaluation_config": "string_case_insensitive"},
            "rows": {
                "items": {
                    "type": "number",
                    "evaluation_config": {
                        "metrics": [
                            {
                                "metric_id": "number_tolerance",
                                "params": {"tolerance": 0.01},
                            }
                        ]
                    },
                }
            },
        }
    }
    assert annotated_comparisons(schema) == {
        "/name": "string_case_insensitive",
        "/rows/*": "number_tolerance:0.01",
    }
    assert comparison_named("string_case_insensitive")[0] == "case_insensitive"
    assert without_annotations(schema) == {
        "properties": {
            "name": {"type": "string"},
            "rows": {"items": {"type": "number"}},
        }
    }


@pytest.mark.parametrize("text", ["string_semantic", "exactly", "number_tolerance:x"])
def test_an_unknown_comparison_is_one_clear_line(text: str) -> None:
    """What is not known here is named, with what there is."""
    with pytest.raises(BadData, match=r"no comparison|no tolerance"):
        comparison_named(text)
