"""OpenAI's formats: chat completions, which most servers have too, and Responses."""

from __future__ import annotations

import msgspec

from evaluation.servers.formats.answers import (
    ErrorEvent,
    ServerAnswer,
    StreamEvent,
    decode_event,
)


class _Function(msgspec.Struct):
    """A piece of the arguments with which a tool is called."""

    arguments: str | None = None


class _Call(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    """What one event adds to the answer."""

    content: str | None = None
    #: How a model refuses, where its server has a place of its own for that.
    refusal: str | None = None
    #: What a reasoning model thinks, by either of the names that servers use.
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    #: In place of `delta` where the answer is not streamed.
    message: _Delta | None = None
    finish_reason: str | None = None


class _Details(msgspec.Struct):
    reasoning_tokens: float | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: float | None = None
    #: Tokens of the reasoning are among them.
    completion_tokens: float | None = None
    completion_tokens_details: _Details | None = None
    #: SGLang's name for them.
    reasoning_tokens: float | None = None


class _Event(StreamEvent):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


def read_chat(data: bytes, answer: ServerAnswer) -> None:
    """Add an event of chat completions, or a whole answer."""
    event = decode_event(data, _Event)
    if event.usage is not None and event.usage != _Usage():
        details = event.usage.completion_tokens_details or _Details()
        answer.count(
            event.usage.prompt_tokens,
            event.usage.completion_tokens,
            event.usage.reasoning_tokens or details.reasoning_tokens,
        )
    for choice in (event.choices or [])[:1]:
        delta = choice.delta or choice.message or _Delta()
        # A server that knows both names says the same under both.
        answer.reasoning += delta.reasoning_content or delta.reasoning or ""
        answer.refusal += delta.refusal or ""
        answer.write(delta.content or "")
        for call in delta.tool_calls or ():
            answer.call(call.function.arguments or "")
        answer.finish = choice.finish_reason or answer.finish


class _Part(msgspec.Struct):
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct):
    """A message, a call of a tool, or a thought."""

    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    #: Undecoded: text of a call, and an object of a search for tools.
    arguments: msgspec.Raw = msgspec.Raw()


class _ResponseUsage(msgspec.Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    output_tokens_details: _Details | None = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Response(StreamEvent):
    status: str = ""
    output: list[_Item] = msgspec.field(default_factory=list)
    usage: _ResponseUsage | None = None
    incomplete_details: _Incomplete | None = None


class _ResponsesEvent(_Response):
    type: str = ""
    delta: object = None
    #: Of the last event.
    response: _Response | None = None


def read_responses(data: bytes, answer: ServerAnswer) -> None:
    """Add an event of Responses, or a whole response.

    Raises:
        BrokenStream: it has another form.
        ErrorEvent: it is an error.
    """
    event = decode_event(data, _ResponsesEvent)
    piece = event.delta if isinstance(event.delta, str) else ""
    match event.type:
        case "response.output_text.delta":
            answer.write(piece)
        case "response.refusal.delta":
            answer.refusal += piece
        case "response.function_call_arguments.delta":
            answer.call(piece)
        case "response.reasoning_summary_text.delta":
            answer.reasoning += piece
        case "error":
            raise ErrorEvent(data.decode("utf-8", "replace"))
    for item in event.output:
        for part in item.content or ():
            answer.write(part.text)
            answer.refusal += part.refusal
        answer.reasoning += "".join(part.text for part in item.summary or ())
        if item.type == "function_call":
            answer.call(msgspec.json.decode(item.arguments, type=str))
    _read_end(event.response or event, answer)


def _read_end(response: _Response, answer: ServerAnswer) -> None:
    """Add the counts and the ending of a response.

    Raises:
        ErrorEvent: it failed.
    """
    if response.error:
        decode_event(msgspec.json.encode({"error": response.error}), StreamEvent)
    if response.usage is not None:
        details = response.usage.output_tokens_details or _Details()
        answer.count(
            response.usage.input_tokens,
            response.usage.output_tokens,
            details.reasoning_tokens,
        )
    if response.status in {"completed", "failed", "cancelled"}:
        answer.finish = response.status
    elif response.status == "incomplete":
        reason = response.incomplete_details or _Incomplete()
        answer.finish = reason.reason or response.status
