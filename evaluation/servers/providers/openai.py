"""OpenAI's chat completions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from evaluation.servers.provider import CHAT, response_format

PROVIDER: Final = replace(
    CHAT,
    name="openai",
    base="https://api.openai.com/v1",
    ways={**CHAT.ways, "strict": response_format},
    profile="openai-strict",
    described_at=(),
)
