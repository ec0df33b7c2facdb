"""Gemini's OpenAI-compatible endpoint; the schema is adapted to what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.servers.dialect import ServerDialect, edit_subschemas, response_format

if TYPE_CHECKING:
    from curation.core.json_types import Json


#: What the endpoint of Gemini does not take (as the paper's own code dropped it).
_NOT_FOR_GEMINI = ("$schema", "$id", "id", "title")


def for_gemini(schema: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Drop the keywords that name a schema and decide nothing."""
    return edit_subschemas(schema, dialect, _without_names)


def _without_names(schema: dict[str, Json], where: str, edits: list[str]) -> None:
    for name in _NOT_FOR_GEMINI:
        if isinstance(schema.get(name), str):
            del schema[name]
            edits.append(f"{name} dropped at {where or 'the root'}")


DIALECT: Final = ServerDialect(
    name="gemini",
    summary="Gemini's OpenAI-compatible endpoint; the schema is adapted",
    body=lambda schema: response_format(schema, strict=True),
    adapt=for_gemini,
    keys=("GEMINI_API_KEY", "OPENAI_API_KEY"),
    described_at=(),
)
