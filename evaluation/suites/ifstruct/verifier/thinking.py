"""Thinking text, and what servers leave around an answer: never judged as the answer.

The published verifier takes away, in this order: pairs of thinking tags with what is
between them, everything up to a closing tag that nothing opened, everything from an
opening tag that nothing closes, everything before the `final` channel of the harmony
format, and end tokens at the very end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_TAGS: Final = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
_FINAL_CHANNEL: Final = "<|channel|>final<|message|>"
_END_TOKENS: Final = (
    "<|return|>",
    "<|end|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "</s>",
)


@dataclass(frozen=True, slots=True)
class SpokenAnswer:
    """What is left of a response once its thinking is taken away."""

    text: str
    #: Whether thinking was begun and never ended: nothing after it counts.
    unclosed: bool = False


def without_thinking(response: str) -> SpokenAnswer:
    """Return the answer that a response holds beside its thinking."""
    unclosed = False
    for opening, closing in _TAGS:
        response = _without_pairs(response, opening, closing)
        end = response.rfind(closing)
        if end >= 0:
            response = response[end + len(closing) :]
        start = response.find(opening)
        if start >= 0:
            response, unclosed = response[:start], True
    channel = response.rfind(_FINAL_CHANNEL)
    if channel >= 0:
        response = response[channel + len(_FINAL_CHANNEL) :]
    return SpokenAnswer(_without_end_tokens(response), unclosed)


def _without_pairs(text: str, opening: str, closing: str) -> str:
    """Return a text without `opening...closing`, in one pass however many there are."""
    kept: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(closing)
    return "".join([*kept, text[place:]]) if kept else text[place:]


def _without_end_tokens(text: str) -> str:
    """Return a text without end tokens and white space at its end."""
    text = text.rstrip()
    while True:
        token = next((token for token in _END_TOKENS if text.endswith(token)), None)
        if token is None:
            return text
        text = text[: -len(token)].rstrip()
