"""OpenAI's responses: `text.format`, or a strict function that must be called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.servers.provider import ANSWER, turns
from evaluation.servers.providers.openai import PROVIDER as _CHAT
from evaluation.servers.responses import BrokenStream, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest
    from evaluation.servers.responses import ServerAnswer


class _Part(msgspec.Struct):
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct):
    type: str = ""
    content: tuple[_Part, ...] | None = None
    summary: tuple[_Part, ...] | None = None
    #: Of a call.
    arguments: str = ""


class _Details(msgspec.Struct):
    reasoning_tokens: float | None = None


class _Usage(msgspec.Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    output_tokens_details: _Details | None = None


class _Incomplete(msgspec.Struct):
    reason: str = ""


class _Response(StreamEvent):
    """The whole of it, at the end of a stream or where there is none."""

    output: tuple[_Item, ...] = ()
    status: str = ""
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None


class _Event(_Response):
    type: str = ""
    delta: str = ""
    message: str = ""
    response: msgspec.Raw = msgspec.Raw()


def _read(data: bytes, answer: ServerAnswer) -> None:
    event = decode_event(data, _Event)
    if event.type == "error":
        raise BrokenStream(f"the server says: {event.message}")
    if event.response:
        whole: _Response = decode_event(bytes(event.response), _Response)
        if event.type in _ENDS:
            _end(whole, answer)
    elif event.output or event.status:
        _end(event, answer)
    elif event.type.startswith("response.reasoning"):
        answer.reasoning += event.delta
    elif event.type == "response.refusal.delta":
        answer.refusal += event.delta
    elif event.type in _TEXTS:
        answer.write(event.delta)


_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
_TEXTS: Final = (
    *("response.output_text.delta", "response.function_call_arguments.delta"),
)
#: Why one is not complete, as chat completions say it.
_REASONS: Final = {"max_output_tokens": "length"}


def _end(whole: _Response, answer: ServerAnswer) -> None:
    usage = whole.usage or _Usage()
    details = usage.output_tokens_details or _Details()
    answer.count(usage.input_tokens, usage.output_tokens, details.reasoning_tokens)
    for item in () if answer.begun else whole.output:
        if item.type == "reasoning":
            parts = (*(item.content or ()), *(item.summary or ()))
            answer.reasoning += "\n".join(part.text for part in parts)
            continue
        for part in item.content or ():
            answer.write(part.text)
            answer.refusal += part.refusal
        answer.write(item.arguments)
    reason = whole.incomplete_details.reason if whole.incomplete_details else ""
    answer.finish = "stop" if whole.status == "completed" else whole.status
    answer.finish = _REASONS.get(reason, reason) or answer.finish


def _body(model: str, request: GenerationRequest) -> dict[str, Json]:
    return {
        "model": model,
        "input": turns(request),
        "max_output_tokens": request.budget,
        "temperature": request.temperature,
        "stream": True,
        "store": False,
    }


def _named(kind: str, member: str, schema: Json) -> Json:
    return {"type": kind, "name": ANSWER, "strict": True, member: schema}


PROVIDER: Final = replace(
    _CHAT,
    name="openai_responses",
    path="/responses",
    body=_body,
    read=_read,
    parameters=dict.fromkeys(
        ("temperature", "store", "reasoning.summary", "reasoning.effort"), ""
    ),
    effort=lambda level: {"reasoning": {"effort": level, "summary": "auto"}},
    ways={
        "json": lambda _schema: {"text": {"format": {"type": "json_object"}}},
        "tool": lambda schema: {
            "tools": [_named("function", "parameters", schema)],
            "tool_choice": {"type": "function", "name": ANSWER},
        },
        "strict": lambda schema: {
            "text": {"format": _named("json_schema", "schema", schema)}
        },
    },
)
