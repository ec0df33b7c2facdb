"""Anthropic's messages."""

from __future__ import annotations

import msgspec

from evaluation.servers.formats.answers import ServerAnswer, StreamEvent, decode_event


class _Delta(msgspec.Struct):
    text: str = ""
    partial_json: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class _Block(msgspec.Struct):
    """A part of a message that is not streamed."""

    text: str = ""
    thinking: str = ""
    #: A call's.
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
    #: A whole message's.
    content: tuple[_Block, ...] = ()
    stop_reason: str | None = None


def read(data: bytes, answer: ServerAnswer) -> None:
    """Add an event, or a whole message."""
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
        answer.write(block.text)
        answer.call(bytes(block.input).decode())
    answer.reasoning += event.delta.thinking
    answer.write(event.delta.text)
    answer.call(event.delta.partial_json)
    answer.finish = event.delta.stop_reason or event.stop_reason or answer.finish
    if answer.finish == "tool_use" and not answer.arguments:
        # A call without arguments is streamed without a piece of them.
        answer.call("{}")
    if answer.finish == "refusal":
        answer.refusal = answer.text or "refusal"
