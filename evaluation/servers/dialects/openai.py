"""OpenAI's strict structured outputs."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect, response_format

DIALECT: Final = ServerDialect(
    name="openai",
    summary="OpenAI's strict structured outputs",
    body=lambda schema: response_format(schema, strict=True),
    profile="openai-strict",
    described_at=(),
)
