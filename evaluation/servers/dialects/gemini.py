"""Gemini's OpenAI-compatible endpoint; the schema is adapted to what it takes."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect, for_gemini, response_format

DIALECT: Final = ServerDialect(
    name="gemini",
    summary="Gemini's OpenAI-compatible endpoint; the schema is adapted",
    body=lambda schema: response_format(schema, strict=True),
    adapt=for_gemini,
    keys=("GEMINI_API_KEY", "OPENAI_API_KEY"),
    described_at=(),
)
