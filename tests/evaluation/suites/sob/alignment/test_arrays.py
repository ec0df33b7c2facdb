"""Items of arrays are paired by key or by the best assignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.sob.alignment.arrays import (
    MOST_PAIRS,
    Alignment,
    aligned_leaves,
)
from evaluation.suites.sob.alignment.assignment import best_assignment
from evaluation.suites.sob.metrics.leaves import all_leaves
from evaluation.suites.sob.metrics.rules import RECOMMENDED

if TYPE_CHECKING:
    from curation.core.json_types import Json

_BOTH = pytest.mark.parametrize("how", list(Alignment))
_ITEMS: st.SearchStrategy[Any] = st.lists(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)
    | st.integers(0, 3)
    | st.lists(st.integers(0, 2), max_size=2),
    max_size=5,
)


def _right(truth: Json, answer: Json, how: Alignment | None) -> int:
    leaves = all_leaves(truth)
    found = (
        all_leaves(answer)
        if how is None
        else aligned_leaves(truth, answer, how, RECOMMENDED)
    )
    return sum(path in found and found[path] == leaf for path, leaf in leaves.items())


@given(st.integers(0, 6), st.integers(1, 6), st.data())
@settings(max_examples=25)
def test_the_assignment_is_scipys(rows: int, columns: int, data: st.DataObject) -> None:
    """No other assignment of rows to columns gains more."""
    optimize = pytest.importorskip("scipy.optimize")
    gains = [
        [data.draw(st.integers(0, 9)) for _ in range(columns)] for _ in range(rows)
    ]
    found = best_assignment(gains)
    assert len(found) == min(rows, columns)
    assert len(set(found.values())) == len(found)
    total = sum(gains[row][column] for row, column in found.items())
    if rows:
        ours, theirs = optimize.linear_sum_assignment(gains, maximize=True)
        assert total == sum(gains[a][b] for a, b in zip(ours, theirs, strict=True))


@given(_ITEMS, _ITEMS)
@settings(max_examples=60)
def test_the_best_assignment_loses_no_right_leaf(truth: Json, answer: Json) -> None:
    """As many leaves are right as index by index, or more; none is made or lost."""
    assert _right(truth, answer, Alignment.ASSIGNMENT) >= _right(truth, answer, None)
    for how in Alignment:
        found = aligned_leaves(truth, answer, how, RECOMMENDED)
        assert sorted(map(str, found.values())) == sorted(
            map(str, all_leaves(answer).values())
        )


@_BOTH
def test_items_in_another_order_are_found(how: Alignment) -> None:
    """Objects by their key, scalars by themselves, at every depth."""
    truth: Json = {"rows": [{"id": 1, "tags": ["x", "y"]}, {"id": 2, "tags": ["z"]}]}
    answer: Json = {"rows": [{"id": 2, "tags": ["z"]}, {"id": 1, "tags": ["y", "x"]}]}
    assert _right(truth, answer, how) == 5
    assert _right(truth, answer, None) == 0


def test_a_key_decides_even_where_another_item_has_more_right_leaves() -> None:
    """By key an item is who it says it is; by assignment who it is most like."""
    truth: Json = [{"id": 1, "a": 1, "b": 1}, {"id": 2, "a": 2, "b": 2}]
    answer: Json = [{"id": 1, "a": 2, "b": 2}, {"id": 2, "a": 1, "b": 1}]
    assert _right(truth, answer, Alignment.KEY) == 2
    assert _right(truth, answer, Alignment.ASSIGNMENT) == 4


def test_items_without_a_partner_keep_their_order_behind() -> None:
    """A missing item leaves its index free; a spurious one fills it or comes last."""
    found = aligned_leaves(["a", "b", "c"], ["c", "x"], Alignment.KEY, RECOMMENDED)
    assert found == {(2,): "c", (0,): "x"}
    found = aligned_leaves(["a"], ["x", "a", "y"], Alignment.KEY, RECOMMENDED)
    assert found == {(1,): "x", (0,): "a", (2,): "y"}


@_BOTH
def test_huge_arrays_keep_their_order(how: Alignment) -> None:
    """Past so many pairs nothing is searched, whatever an answer repeats."""
    answer: Json = [1] * (MOST_PAIRS + 1)
    assert aligned_leaves([1], answer, how, RECOMMENDED) == all_leaves(answer)


@_BOTH
def test_an_answer_of_another_shape_has_its_own_paths(how: Alignment) -> None:
    """An array for an object, an empty one, a scalar: none is an error."""
    answers: list[Json] = [[1, {"a": []}], {}, [], {"a": [[[]]]}]
    for answer in answers:
        found = aligned_leaves({"a": {"b": [1]}}, answer, how, RECOMMENDED)
        assert found == all_leaves(answer)
    assert aligned_leaves([1], 1, how, RECOMMENDED) == {}
