"""Gemini's OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect, response_format

DIALECT: Final = ServerDialect(
    name="gemini",
    summary="Gemini's OpenAI-compatible endpoint",
    body=lambda schema: response_format(schema, strict=True),
    profile="gemini",
    keys=("GEMINI_API_KEY", "OPENAI_API_KEY"),
    described_at=(),
)
