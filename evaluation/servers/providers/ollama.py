"""Ollama's own API: `chat`, with a schema as its `format`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.servers.provider import Provider, turns
from evaluation.servers.responses import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest


class _Message(msgspec.Struct):
    content: str = ""
    thinking: str = ""


class _Event(StreamEvent):
    message: _Message = msgspec.field(default_factory=_Message)
    done: bool = False
    done_reason: str = "stop"
    prompt_eval_count: float | None = None
    eval_count: float | None = None


def _read(data: bytes, answer: ServerAnswer) -> None:
    event = decode_event(data, _Event)
    answer.reasoning += event.message.thinking
    answer.write(event.message.content)
    if event.done:
        answer.count(event.prompt_eval_count, event.eval_count)
        answer.finish = event.done_reason


def _body(model: str, request: GenerationRequest) -> dict[str, Json]:
    return {
        "model": model,
        "messages": turns(request),
        "stream": True,
        "options": {
            "num_predict": request.budget,
            "temperature": request.temperature,
            "seed": request.seed % 2**31,
        },
    }


PROVIDER: Final = Provider(
    name="ollama",
    base="http://localhost:11434/api",
    keys=("OLLAMA_API_KEY",),
    path="/chat",
    models="/tags",
    body=_body,
    read=_read,
    bare=True,
    parameters={"think": ""},
    # Most models only think or do not.
    effort=lambda level: {"think": {"on": True, "off": False}.get(level, level)},
    least_effort="on",
    ways={
        "json": lambda _schema: {"format": "json"},
        "strict": lambda schema: {"format": schema},
    },
)
