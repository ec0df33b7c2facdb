"""Thinking is told apart from the answer, and an answer is never taken for thinking."""

from __future__ import annotations

from time import process_time

import pytest

from evaluation.answers.extraction import split_thinking

#: Text, answer, thinking, whether it never ended.
VECTORS = [
    ('{"a": 1}', '{"a": 1}', "", False),
    ("<think>Two?</think>[2]", "[2]", "Two?", False),
    ("<think>a</think>\n<think>b</think>\n[2]", "[2]", "a\nb", False),
    ("<think>a<think>b</think>c</think>[2]", "[2]", "<think>a<think>b</think>c", False),
    ("<think>no <think> tags</think>\n{}", "{}", "no <think> tags", False),
    ("<THINK>a</Think>{}", "{}", "a", False),
    ('<think>a</think>{"b": "</think>"}', '{"b": "</think>"}', "a", False),
    ("\ufeff{}", "{}", "", False),
    ("so it is two</think>\n[2]", "[2]", "so it is two", False),
    ("<think>I wonder {", "", "I wonder {", True),
    ("[THINK]x[/THINK] [2]", "[2]", "x", False),
    ("Well. <think>x</think> [2]", "Well.  [2]", "x", False),
    ('{"tag": "<think>x</think>"}', '{"tag": "<think>x</think>"}', "", False),
    ("<think></think>{}", "{}", "", False),
    ("<seed:think>a</seed:think>{}", "{}", "a", False),
    ("\u25c1think\u25b7a\u25c1/think\u25b7{}", "{}", "a", False),
    ("<thought>a</thought>{}", "{}", "a", False),
    ("{}<|im_end|>", "{}", "", False),
    ("{}<\uff5cend\u2581of\u2581sentence\uff5c>", "{}", "", False),
    ("{}<eos>", "{}", "", False),
    ("{} </s>\n<|endoftext|>", "{}", "", False),
    (
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
            "<|channel|>final<|message|>{}<|return|>"
        ),
        "{}",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant",
        False,
    ),
    ("<|channel|>analysis<|message|>hm", "", "<|channel|>analysis<|message|>hm", True),
    ("<|channel|>final <|constrain|>json<|message|>{}", "{}", "", False),
    ('{"a": "<|channel|>final<|message|>"}',) * 2 + ("", False),
    ("analysisWe add.assistantfinal{}", "{}", "We add.", False),
    ("", "", "", False),
]


@pytest.mark.parametrize(("text", "answer", "thinking", "unclosed"), VECTORS)
def test_golden_vectors(
    text: str, answer: str, thinking: str, *, unclosed: bool
) -> None:
    """Tags, channels and end tokens come off; what is left is the answer."""
    found = split_thinking(text)
    assert (found.answer, found.thinking, found.unclosed) == (
        answer,
        thinking,
        unclosed,
    )


@pytest.mark.parametrize(
    "text",
    [" " * 400_000, "</think>" * 130_000, "<think>" * 50_000, "</s> " * 50_000 + "x"],
)
def test_long_texts_are_read_in_one_pass(text: str) -> None:
    """Text of one repeated piece takes no longer than its length (it took hours)."""
    began = process_time()
    assert not split_thinking(text).answer.strip("x </s>")
    assert process_time() - began < 60
