"""Gemini's `generateContent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evaluation.servers.formats.answers import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json


def turn(role: str, text: str) -> Json:
    """Return a turn of a conversation."""
    name = "model" if role == "assistant" else "user"
    return {"role": name, "parts": [{"text": text}]}


class _Call(msgspec.Struct):
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Part(msgspec.Struct, rename="camel"):
    text: str = ""
    thought: bool = False
    function_call: _Call | None = None


class _Content(msgspec.Struct):
    parts: tuple[_Part, ...] = ()


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content = msgspec.field(default_factory=_Content)
    finish_reason: str = ""


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: float | None = None
    candidates_token_count: float = 0
    thoughts_token_count: float = 0


class _Event(StreamEvent, rename="camel"):
    candidates: tuple[_Candidate, ...] = ()
    usage_metadata: _Usage | None = None
    prompt_feedback: dict[str, object] = msgspec.field(default_factory=dict)


def read(data: bytes, answer: ServerAnswer) -> None:
    """Add an event, or a whole answer."""
    event = decode_event(data, _Event)
    usage = event.usage_metadata
    if usage is not None and usage.prompt_token_count is not None:
        thought = usage.thoughts_token_count
        written = usage.candidates_token_count + thought
        answer.count(usage.prompt_token_count, written, thought)
    for candidate in event.candidates[:1]:
        for part in candidate.content.parts:
            if part.thought:
                answer.reasoning += part.text
            else:
                answer.write(part.text)
            if part.function_call is not None:
                answer.call(bytes(part.function_call.args).decode())
        answer.finish = candidate.finish_reason or answer.finish
    blocked = event.prompt_feedback.get("blockReason")
    if blocked:
        # Only a filter blocks a prompt, though it may not name it.
        answer.finish = "blocklist" if blocked == "OTHER" else str(blocked)
