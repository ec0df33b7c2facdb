"""Thinking told apart from the answer, where a model writes both into one text.

Known are tags, the channels of OpenAI's harmony format
(https://cookbook.openai.com/articles/openai-harmony), and end tokens that a server
left in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TAGS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
)
_FINAL: Final = "<|channel|>final<|message|>"
_CHANNEL: Final = "<|channel|>"
#: Harmony where the special tokens were left out of the text.
_BARE_HARMONY: Final = re.compile(
    r"\A\s*(?:analysis|commentary)(.*?)assistant\s*final", re.DOTALL
)
#: Most end tokens that are taken off one text.
_MOST_END_TOKENS: Final = 32
_END_TOKENS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|return|>",
    "<|end|>",
    "<end_of_turn>",
    "</s>",
)
#: What an answer begins with that is no thinking, whatever tags it may quote.
_ANSWER_STARTS: Final = ("{", "[", '"', "```", "- ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParts:
    """A model's text in its two parts."""

    answer: str
    thinking: str = ""
    #: Whether thinking began and never ended: then there is no answer.
    unclosed: bool = False


def split_thinking(text: str) -> AnswerParts:
    """Return the answer of a text, and the thinking that stands before it.

    A tag counts at the beginning of a text, or in one that does not begin as an
    answer does: `{"tag": "<think>"}` is an answer as a whole. Of a closing tag
    without its opening one everything before is thinking; of an opening tag without
    its closing one everything after.

    Example:
        >>> split_thinking("<think>Two?</think>[2]").answer
        '[2]'
        >>> split_thinking("<think>Two?").unclosed
        True
    """
    text = _without_end_tokens(text)
    harmony = _split_harmony(text)
    if harmony is not None:
        return harmony
    start = text.lstrip()
    opened = start.startswith(tuple(tag for tag, _ in _TAGS))
    if start.startswith(_ANSWER_STARTS) and not opened:
        return AnswerParts(answer=text)
    thoughts: list[str] = []
    unclosed = False
    for opening, closing in _TAGS:
        text, found, open_ended = _without_tag(text, opening, closing)
        thoughts += found
        unclosed = unclosed or open_ended
    if not thoughts:
        return AnswerParts(answer=text)
    return AnswerParts(
        answer=text.strip(),
        thinking="\n".join(thought.strip() for thought in thoughts),
        unclosed=unclosed,
    )


def _without_end_tokens(text: str) -> str:
    """Return a text without the end tokens at its end, and the space around them."""
    for _ in range(_MOST_END_TOKENS):
        ended = text.rstrip()
        token = next((one for one in _END_TOKENS if ended.endswith(one)), "")
        if not token:
            break
        text = ended.removesuffix(token).rstrip()
    return text


def _split_harmony(text: str) -> AnswerParts | None:
    before, final, answer = text.rpartition(_FINAL)
    if final:
        return AnswerParts(answer=answer.strip(), thinking=before.strip())
    if text.lstrip().startswith(_CHANNEL):
        return AnswerParts(answer="", thinking=text.strip(), unclosed=True)
    bare = _BARE_HARMONY.match(text)
    if bare is None:
        return None
    return AnswerParts(answer=text[bare.end() :].strip(), thinking=bare[1].strip())


def _without_tag(text: str, opening: str, closing: str) -> tuple[str, list[str], bool]:
    """Return a text without one kind of thinking, the thinking, and whether it ends."""
    thoughts: list[tuple[int, int]] = []
    kept: list[tuple[int, int]] = []
    place, level, begun = 0, 0, 0
    for mark in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if mark[0] == opening:
            if level == 0:
                kept.append((place, mark.start()))
                begun = mark.end()
            level += 1
            continue
        if level > 1:
            level -= 1
            continue
        if level:
            thoughts.append((begun, mark.start()))
        else:
            # Without an opening tag everything so far was thinking.
            thoughts, kept = [(0, mark.start())], []
        place, level = mark.end(), 0
    if level:
        thoughts.append((begun, len(text)))
    else:
        kept.append((place, len(text)))
    answer = "".join(text[start:end] for start, end in kept)
    unclosed = level > 0 and not answer.strip()
    return answer, [text[start:end] for start, end in thoughts], unclosed
