"""Anthropic's messages: an output format, or a strict tool that must be called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.servers.provider import ANSWER, Provider, system_of, turns
from evaluation.servers.responses import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest

#: The version of the API that is spoken.
_VERSION: Final = "2023-06-01"


class _Delta(msgspec.Struct):
    text: str = ""
    partial_json: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class _Block(msgspec.Struct):
    """A part of a message that is not streamed."""

    text: str = ""
    thinking: str = ""
    #: Of a call.
    input: msgspec.Raw = msgspec.Raw()


class _Details(msgspec.Struct):
    thinking_tokens: float | None = None


class _Usage(msgspec.Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    output_tokens_details: _Details | None = None


class _Message(msgspec.Struct):
    usage: _Usage = msgspec.field(default_factory=_Usage)


class _Event(StreamEvent):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    #: Of `message_start`, with the tokens of the prompt.
    message: _Message | None = None
    #: Of `message_delta`: all tokens of the answer so far.
    usage: _Usage | None = None
    #: Of a whole message.
    content: tuple[_Block, ...] = ()
    stop_reason: str | None = None


def _read(data: bytes, answer: ServerAnswer) -> None:
    event = decode_event(data, _Event)
    if event.message is not None:
        answer.count(event.message.usage.input_tokens, None)
    if event.usage is not None:
        thought = (event.usage.output_tokens_details or _Details()).thinking_tokens
        prompt = event.usage.input_tokens
        prompt = answer.prompt_tokens if prompt is None else prompt
        answer.count(prompt, event.usage.output_tokens, thought)
    for block in event.content:
        answer.reasoning += block.thinking
        answer.write(block.text + bytes(block.input).decode())
    answer.reasoning += event.delta.thinking
    answer.write(event.delta.text + event.delta.partial_json)
    answer.finish = event.delta.stop_reason or event.stop_reason or answer.finish
    if answer.finish == "tool_use" and not answer.text:
        # A call without arguments is streamed without a piece of them.
        answer.write("{}")
    if answer.finish == "model_context_window_exceeded":
        answer.finish = "length"
    if answer.finish == "refusal":
        answer.refusal = answer.text or "refusal"


def _body(model: str, request: GenerationRequest) -> dict[str, Json]:
    body: dict[str, Json] = {
        "model": model,
        "messages": turns(request, without="system"),
        "max_tokens": request.budget,
        "temperature": request.temperature,
        "stream": True,
    }
    system = system_of(request)
    return {**body, "system": system} if system else body


PROVIDER: Final = Provider(
    name="anthropic",
    base="https://api.anthropic.com/v1",
    keys=("ANTHROPIC_API_KEY",),
    headers=lambda key: {"x-api-key": key, "anthropic-version": _VERSION},
    path="/messages",
    body=_body,
    read=_read,
    parameters={"temperature": "", "output_config.effort": ""},
    effort=lambda level: {
        "output_config": {"effort": level},
        "thinking": {"type": "adaptive"},
    },
    profile="anthropic",
    batches="anthropic",
    ways={
        "tool": lambda schema: {
            "tools": [{"name": ANSWER, "strict": True, "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": ANSWER},
        },
        "strict": lambda schema: {
            "output_config": {"format": {"type": "json_schema", "schema": schema}}
        },
    },
)
