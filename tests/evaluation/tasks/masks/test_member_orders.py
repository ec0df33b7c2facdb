"""The same value with its members in another order, and nothing else changed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from evaluation.tasks.masks.task import permuted_texts

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=_VALUES, count=st.integers(0, 4), seed=st.integers(0, 3))
def test_the_value_is_the_same_and_the_text_is_not(
    value: object, count: int, seed: int
) -> None:
    """Equal as JSON, different as texts, no more than asked for, numbered from 1."""
    text = json.dumps(value, ensure_ascii=False)
    found = list(permuted_texts(text, count, seed))
    texts = [each for _, each in found]
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    assert len(found) <= count
    assert len({text, *texts}) == len(texts) + 1
    assert all(json.loads(each) == value for each in texts)
    assert found == list(permuted_texts(text, count, seed))


def test_spelling_stays() -> None:
    """Numbers keep how they are written, and all orders are reached."""
    text = '{"a": 1.00, "b": 1e5, "c": -0}'
    texts = {each for _, each in permuted_texts(text, 5, 0)}
    assert len(texts) == 5
    for each in texts:
        assert sorted(each.strip("{}").split(", ")) == [
            '"a": 1.00',
            '"b": 1e5',
            '"c": -0',
        ]


def test_what_has_no_other_order_has_none() -> None:
    """One member, no member, no object, no JSON, repeated names: nothing comes."""
    for text in ('{"a": 1}', "{}", "[1, 2]", "{", '{"a": 1, "a": 2}', ""):
        assert list(permuted_texts(text, 3, 0)) == []


def test_a_text_too_deep_for_python_has_none() -> None:
    """It can be read, and not be written again: no run ends by it."""
    for depth in (400, 900):
        deep = "[" * depth + '{"a": 1, "b": 2}' + "]" * depth
        assert list(permuted_texts(deep, 1, 0)) == []
