"""Ollama's `/api/chat`: lines of JSON. Long prompts must not be cut silently.

By default Ollama drops the beginning of a prompt that its context does not hold, and
answers the rest (ollama/ollama#4967, #14259). `truncate` and `shift` forbid that,
where the server knows them; `num_ctx` makes room; its token counts show
whether it did so all the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.servers.formats.answers import ServerAnswer, StreamEvent, decode_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest

#: Contexts are asked for in steps: each change has Ollama load the model again.
_SMALLEST_CONTEXT: Final = 8192
#: No prompt has fewer tokens than its bytes by this.
_MAX_BYTES_OF_A_TOKEN: Final = 8


def context_size(request: GenerationRequest) -> int:
    """Return the tokens that a context needs for the prompt and its answer."""
    size = sum(len(turn.content.encode()) for turn in request.messages)
    context = _SMALLEST_CONTEXT
    while context < size // 2 + request.budget:
        context *= 2
    return context


class _Message(msgspec.Struct):
    content: str = ""
    thinking: str = ""


class _Event(StreamEvent):
    message: _Message = msgspec.field(default_factory=_Message)
    done_reason: str | None = None
    prompt_eval_count: float | None = None
    eval_count: float | None = None


def read(data: bytes, answer: ServerAnswer) -> None:
    """Add a line, or a whole answer."""
    event = decode_event(data, _Event)
    answer.reasoning += event.message.thinking
    answer.write(event.message.content)
    if event.prompt_eval_count is not None or event.eval_count is not None:
        answer.count(event.prompt_eval_count, event.eval_count)
    answer.finish = event.done_reason or answer.finish


def cut(sent: Mapping[str, Json], answer: ServerAnswer) -> str:
    """Return why a prompt was not read whole; empty if unknown."""
    counted = answer.prompt_tokens
    messages = sent.get("messages")
    if counted is None or not isinstance(messages, list):
        return ""
    least = len(json.dumps(messages, ensure_ascii=False)) // _MAX_BYTES_OF_A_TOKEN
    if counted >= least:
        return ""
    return f"the server read {counted:,} tokens of a prompt of at least {least:,}"
