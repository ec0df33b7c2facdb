"""What stands around an answer: thinking, and the fences of code blocks."""

from __future__ import annotations

import pytest

from evaluation.suites.ifstruct.answer_text import find_code_block
from tests.evaluation.suites.ifstruct.verifier.judged import BAN, PLAIN, judge


@pytest.mark.parametrize(
    "text",
    [
        f"<think>a</think>{PLAIN}",
        f"[THINK]a[/THINK]{PLAIN} </s>",
        f"a</think>{PLAIN}",
        f"x<|channel|>final<|message|>{PLAIN}<|end|><|return|>",
        '[{"id": 1, "t": "<think>"}]',
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
