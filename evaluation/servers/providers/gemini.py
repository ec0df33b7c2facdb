"""Gemini's own API: `streamGenerateContent`, with `responseJsonSchema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.servers.provider import ANSWER, Provider, system_of
from evaluation.servers.responses import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest


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


def _read(data: bytes, answer: ServerAnswer) -> None:
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
                answer.write(bytes(part.function_call.args).decode())
        answer.finish = candidate.finish_reason or answer.finish
    if event.prompt_feedback.get("blockReason"):
        answer.finish = "content_filter"


def _turn(role: str, text: str) -> Json:
    name = "model" if role == "assistant" else "user"
    return {"role": name, "parts": [{"text": text}]}


def _body(_model: str, request: GenerationRequest) -> dict[str, Json]:
    messages = [it for it in request.messages if it.role != "system"]
    body: dict[str, Json] = {
        "contents": [_turn(it.role, it.content) for it in messages],
        "generationConfig": {
            "maxOutputTokens": request.budget,
            "temperature": request.temperature,
            "seed": request.seed % 2**31,
        },
    }
    system = system_of(request)
    return {**body, "systemInstruction": _turn("", system)} if system else body


_JSON: Final = {"responseMimeType": "application/json"}

PROVIDER: Final = Provider(
    name="gemini",
    base="https://generativelanguage.googleapis.com/v1beta",
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    headers=lambda key: {"x-goog-api-key": key},
    path="/models/{model}:streamGenerateContent?alt=sse",
    body=_body,
    read=_read,
    parameters=dict.fromkeys(
        (f"generationConfig.{it}" for it in ("temperature", "seed", "thinkingConfig")),
        "",
    ),
    effort=lambda level: {
        "generationConfig": {
            "thinkingConfig": {"thinkingLevel": level, "includeThoughts": True}
        }
    },
    profile="gemini",
    ways={
        "json": lambda _schema: {"generationConfig": {**_JSON}},
        "tool": lambda schema: {
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": ANSWER, "parametersJsonSchema": schema}
                    ]
                }
            ],
            "toolConfig": {
                "functionCallingConfig": {
                    "mode": "ANY",
                    "allowedFunctionNames": [ANSWER],
                }
            },
        },
        "strict": lambda schema: {
            "generationConfig": {**_JSON, "responseJsonSchema": schema}
        },
    },
)
