"""OpenAI's chat completions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evaluation.servers.provider import CHAT, response_format

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.generation.text_generation import GenerationRequest


def _body(model: str, request: GenerationRequest) -> dict[str, Json]:
    """Return a request with the name for the budget that reasoning models take, too."""
    body = CHAT.body(model, request)
    body["max_completion_tokens"] = body.pop("max_tokens")
    return body


PROVIDER: Final = replace(
    CHAT,
    name="openai",
    base="https://api.openai.com/v1",
    body=_body,
    parameters={
        **dict.fromkeys(("temperature", "seed", "stream_options"), ""),
        "max_completion_tokens": "max_tokens",
        "reasoning_effort": "",
    },
    ways={**CHAT.ways, "strict": response_format},
    profile="openai-strict",
    described_at=(),
    batches="openai",
)
