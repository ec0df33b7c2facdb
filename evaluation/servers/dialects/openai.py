"""OpenAI's strict structured outputs; the schema is adapted to what they take."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect, for_openai, response_format

DIALECT: Final = ServerDialect(
    name="openai",
    summary="OpenAI's strict structured outputs; the schema is adapted",
    body=lambda schema: response_format(schema, strict=True),
    adapt=for_openai,
    budget="max_completion_tokens",
    described_at=(),
)
