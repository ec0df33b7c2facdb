"""Answers as text: YAML as PyYAML reads it, thinking, and fences of code blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.ifstruct.answer_text import find_code_block
from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.judged import (
    BAN,
    ITEM,
    PLAIN,
    YAML,
    failures_of,
    judge,
)


def test_merge_keys_are_those_of_pyyaml() -> None:
    """`<<` takes the members of another mapping over, as the safe loader does."""
    text = "- &a\n  id: 1\n- <<: *a\n  t: x"
    wanted = replace(YAML, least=2, most=2, schema={"items": ITEM})
    assert judge(text, wanted).findings == ()


_PLAIN_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.lists(_PLAIN_VALUES, min_size=1, max_size=3))
def test_yaml_is_read_as_the_safe_loader_does(value: object) -> None:
    """What PyYAML writes is read back as its own safe loader reads it."""
    text = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True)
    open_list = replace(YAML, schema={}, least=1, most=3)
    failures = failures_of(text, open_list, RuleReading.BOTH)
    # An empty list is written in brackets, and `[]` as the whole is none of these.
    assert set(failures) <= {Failure.WRONG_FORMAT} if "{}" in text else failures == []


@pytest.mark.parametrize(
    "text",
    [
        f"<think>a</think>{PLAIN}",
        f"[THINK]a[/THINK]{PLAIN} <|end|>",
        f"a</think>{PLAIN}",
        f"x<|start|>assistant<|channel|>final<|message|>{PLAIN}<|return|>",
    ],
)
def test_thinking_is_never_judged(text: str) -> None:
    """Pairs of tags, a lone closing tag, channels and end tokens are taken away."""
    assert judge(text, BAN).findings == ()


def test_the_first_block_counts() -> None:
    """The first fence opens a block and the next one closes it."""
    block = find_code_block("a\n```Json x\n1\n```py\n2\n```\nb")
    assert block is not None
    assert (block.language, block.content) == ("json", "1")
    assert (block.before, block.after, block.fences) == ("a", "b", 3)
    assert find_code_block("a ``` b") is None
