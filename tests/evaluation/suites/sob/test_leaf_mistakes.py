"""Each wrong leaf is in the class that a reader would put it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.suites.sob.metrics import PUBLISHED, RECOMMENDED, all_leaves, pointer_of
from evaluation.suites.sob.scorer import leaf_mistakes

if TYPE_CHECKING:
    from curation.core.json_types import Json


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        (42, "42", "type"),
        (42, "forty-two", "value"),
        (True, "True", "type"),
        (True, 1, "value"),
        (None, "null", "type"),
        (None, "Oslo", "value"),
        ("Oslo", None, "value"),
        (1.5, "1.5", "type"),
        (1, 1.5, "value"),
        ([], "x", "value"),
        ([], {}, "value"),
    ],
)
def test_the_class_of_one_leaf(truth: Json, answer: Json, expected: str) -> None:
    """A right value of a wrong type is a mistake of type; others are of value."""
    found = leaf_mistakes(
        all_leaves({"a": truth}), all_leaves({"a": answer}), RECOMMENDED
    )
    assert [str(leaf.mistake) for leaf in found] == [expected]


def test_missing_and_spurious_paths_are_named_where_they_are() -> None:
    """A renamed key is one path too few and one too many."""
    found = leaf_mistakes(
        all_leaves({"a": {"x": 1}, "b": [1, 2]}),
        all_leaves({"a": {"y": 1}, "b": [1]}),
        RECOMMENDED,
    )
    assert [(pointer_of(leaf.path), str(leaf.mistake)) for leaf in found] == [
        ("/a/x", "missing_path"),
        ("/b/1", "missing_path"),
        ("/a/y", "spurious_path"),
    ]


def test_under_pythons_equality_true_is_no_mistake_for_one() -> None:
    """The classes follow the reading's equality."""
    leaves = (all_leaves({"a": 1}), all_leaves({"a": True}))
    assert not leaf_mistakes(*leaves, PUBLISHED)
    assert leaf_mistakes(*leaves, RECOMMENDED)
