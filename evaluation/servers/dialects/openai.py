"""OpenAI's strict structured outputs; the schema is adapted to what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.servers.dialect import ServerDialect, edit_subschemas, response_format

if TYPE_CHECKING:
    from curation.core.json_types import Json


def for_openai(schema: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Close every object, require all its properties, and have an object at the root.

    That is what the strict mode of OpenAI's structured outputs asks for.

    Example:
        >>> for_openai('{"type": "object"}', "2020-12")[1]
        ('additionalProperties set to false at the root',)
    """
    return edit_subschemas(schema, dialect, _close)


def _close(schema: dict[str, Json], where: str, edits: list[str]) -> None:
    if not where and schema.get("type") != "object" and "$ref" not in schema:
        edits.append("type set to object at the root")
        schema["type"] = "object"
    properties = schema.get("properties")
    is_object = schema.get("type") == "object" or isinstance(properties, dict)
    if not is_object:
        return
    if schema.get("additionalProperties") is not False:
        edits.append(f"additionalProperties set to false at {where or 'the root'}")
        schema["additionalProperties"] = False
    names: list[Json] = list(properties) if isinstance(properties, dict) else []
    if names and set(_names(schema.get("required"))) != set(names):
        edits.append(f"every property required at {where or 'the root'}")
        schema["required"] = names


def _names(required: Json) -> list[str]:
    names = required if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str)]


DIALECT: Final = ServerDialect(
    name="openai",
    summary="OpenAI's strict structured outputs; the schema is adapted",
    body=lambda schema: response_format(schema, strict=True),
    adapt=for_openai,
    budget="max_completion_tokens",
    described_at=(),
)
