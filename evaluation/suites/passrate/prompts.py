"""Write a schema as a question: a task line, hints of its fields, the schema.

The system prompt and the lines of the question define the benchmark; they are those
of the published harness ("How the JSONSchemaBench works", see NOTICE).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.json.pointer import member, tokens_of_fragment
from curation.json.text import parse, plain
from curation.json.values import type_of
from evaluation.core.records import Message, Prompt, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.suites.passrate.settings import PassrateSettings

SYSTEM: Final = (
    "You are a helpful assistant that generates valid JSON. "
    "You MUST output ONLY a valid JSON object that strictly adheres to the provided "
    "schema. "
    "Do not include any text, explanation, or markdown formatting - only the raw JSON "
    "object. "
    "Do not add any fields not specified in the schema."
)


_MAX_HINTS: Final = 20


def prompt(record: Record, settings: PassrateSettings) -> Prompt:
    """Return the conversation that asks for an instance of a record's schema."""
    text = question(record.schema or "true", record.id, settings)
    system = Message(role="system", content=SYSTEM)
    turns = (system, Message(role="user", content=text))
    return Prompt(messages=turns, budget=settings.budget)


def question(schema: str, name: str, settings: PassrateSettings) -> str:
    """Return the text that asks for an instance of one schema.

    Example:
        >>> print(question('{"properties": {"a": {}}}', "x1", PassrateSettings()))
        Generate a valid JSON object (task: x1)
        Fields: 'a' (any)
        <BLANKLINE>
        Required JSON Schema:
        {
          "properties": {
            "a": {}
          }
        }
    """
    read = parse(schema.encode("utf-8", "surrogatepass"))
    value: Json = None if isinstance(read, Rejected) else plain(read)
    root = value if isinstance(value, dict) else {}
    lines = [f"{_described(root, settings)}Generate a valid JSON object (task: {name})"]
    fields = hints(root)
    if fields:
        lines.append(f"Fields: {fields}")
    if not isinstance(read, Rejected):
        schema = json.dumps(value, indent=2, ensure_ascii=False)
    return "\n".join([*lines, "", "Required JSON Schema:", schema])


def hints(root: Mapping[str, Json]) -> str:
    """Return the line of field hints: the top-level properties, in their order.

    Of more than twenty the required ones come first.
    """
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return ""
    names = root.get("required")
    required = set(map(str, names)) if isinstance(names, list) else set()
    hinted = sorted(properties, key=lambda name: name not in required)[:_MAX_HINTS]
    return "; ".join(
        f"'{name}' ({_type(properties[name], root)})"
        + (" [REQUIRED]" if name in required else "")
        for name in properties
        if name in hinted
    )


def _type(schema: Json, root: Mapping[str, Json]) -> str:
    """Return the type of a property for the hints; one `$ref` is followed."""
    if isinstance(schema, dict) and "$ref" in schema and "type" not in schema:
        schema = _target(schema["$ref"], root)
    if not isinstance(schema, dict):
        return "any"
    types = schema.get("type")
    if isinstance(types, str):
        return types
    if isinstance(types, list):
        return "|".join(map(str, types))
    for keyword, implied in (("properties", "object"), ("items", "array")):
        if keyword in schema:
            return implied
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        return "|".join(dict.fromkeys(map(type_of, values))) or "any"
    return "any"


def _target(reference: Json, root: Mapping[str, Json]) -> Json:
    """Return the target of a reference inside the schema; None without one."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    target: Json = dict(root)
    try:
        for token in tokens_of_fragment(reference):
            target = member(target, token)
    except (LookupError, ValueError):
        return None
    return target


def _described(root: Mapping[str, Json], settings: PassrateSettings) -> str:
    if not settings.describe:
        return ""
    values = (root.get(keyword) for keyword in ("title", "description"))
    texts = [" ".join(text.split()) for text in values if isinstance(text, str)]
    return "".join(f"{text.rstrip('.')}. " for text in texts if text)
