"""A thought in tags comes apart from the answer, and no answer loses a character."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.generation.reasoning import split_thought

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
).map(json.dumps)


@given(_JSON, st.text(alphabet="ab <>/\n{}", max_size=20))
def test_the_answer_after_a_thought_is_whole(answer: str, thought: str) -> None:
    """Whatever was thought, what follows the closing tag is the answer."""
    found = split_thought(f"<think>{thought}</think>\n{answer}")
    assert found.answer == answer
    assert found.thought == thought.strip()


@given(st.lists(_JSON, max_size=3).map(" ".join))
def test_json_is_no_thought(answer: str) -> None:
    """A text that is JSON is left as it is, tags in its strings or not."""
    assert split_thought(answer) == (None, answer)


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>for ever", "for ever", ""),
        ("<think></think>", "", ""),
        ("\n<think>\nHm.\n</think>\n\n{}", "Hm.", "{}"),
        ("Hm.</think>{}", "Hm.", "{}"),
        ('{"a": "</think>"}', None, '{"a": "</think>"}'),
        ("I think so.", None, "I think so."),
        ("", None, ""),
    ],
)
def test_tags_are_found_where_models_put_them(
    text: str, thought: str | None, answer: str
) -> None:
    """At the beginning, closed or not, and without the tag that the prompt has."""
    assert split_thought(text) == (thought, answer)
