"""What providers want changed in a schema: a new schema, and a list of the edits.

A text is judged against the original schema, and separately against the adapted one,
so that a table can show what the change of the question is worth.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschema_locations

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import Json

#: What the endpoint of Gemini does not take (as the paper's own code dropped it).
_NOT_FOR_GEMINI = ("$schema", "$id", "id", "title")


def unchanged(schema: str, _dialect: str) -> tuple[str, tuple[str, ...]]:
    """Return the schema as it is, and no edit."""
    return schema, ()


def for_openai(schema: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Close every object, require all its properties, and have an object at the root.

    That is what the strict mode of OpenAI's structured outputs asks for.

    Args:
        schema: The schema's text.
        dialect: Its JSON Schema dialect, as `curation.schema.dialects` names it.

    Returns:
        The new schema's text, and one line for each edit.

    Example:
        >>> for_openai('{"type": "object"}', "2020-12")[1]
        ('additionalProperties set to false at the root',)
    """
    return _edit_subschemas(schema, dialect, _close, root=_object_at_root)


def for_gemini(schema: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Drop the keywords that name a schema and decide nothing; see `for_openai`."""
    return _edit_subschemas(schema, dialect, _without_names)


def _edit_subschemas(
    schema: str,
    dialect: str,
    edit: Callable[[dict[str, Json], str, list[str]], None],
    root: Callable[[dict[str, Json], list[str]], None] | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Apply an edit to every subschema of a copy, and another one to its root."""
    value: Json = json.loads(schema)
    edits: list[str] = []
    if not isinstance(value, dict):
        return schema, ()
    if root is not None:
        root(value, edits)
    # The walk is finished before anything changes under it.
    for location in list(subschema_locations(value, BY_NAME[dialect])):
        if isinstance(location.schema, dict):
            edit(location.schema, location.pointer, edits)
    return (json.dumps(value), tuple(edits)) if edits else (schema, ())


def _object_at_root(schema: dict[str, Json], edits: list[str]) -> None:
    if schema.get("type") != "object" and "$ref" not in schema:
        edits.append("type set to object at the root")
        schema["type"] = "object"


def _close(schema: dict[str, Json], where: str, edits: list[str]) -> None:
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
    listed = required if isinstance(required, list) else []
    return [name for name in listed if isinstance(name, str)]


def _without_names(schema: dict[str, Json], where: str, edits: list[str]) -> None:
    for name in _NOT_FOR_GEMINI:
        if isinstance(schema.get(name), str):
            del schema[name]
            edits.append(f"{name} dropped at {where or 'the root'}")
