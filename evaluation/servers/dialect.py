"""Server dialects: ways to ask for JSON that satisfies a schema, one file each.

`--engine` names one if `--model` is a server. Another package adds one through the
entry point group `csbdata.servers` (the `ServerDialect` itself, or a module that holds
one as `DIALECT`). A text for an adapted schema is judged against both schemas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from curation.core.json_types import Json
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschema_locations
from curation.system.registry import Registry

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
    return _edit_subschemas(schema, dialect, _close)


def for_gemini(schema: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Drop the keywords that name a schema and decide nothing; see `for_openai`."""
    return _edit_subschemas(schema, dialect, _without_names)


def _edit_subschemas(
    schema: str,
    dialect: str,
    edit: Callable[[dict[str, Json], str, list[str]], None],
) -> tuple[str, tuple[str, ...]]:
    """Apply an edit to every subschema of a copy, its root first."""
    value: Json = json.loads(schema)
    edits: list[str] = []
    if not isinstance(value, dict):
        return schema, ()
    # The walk is finished before anything changes under it.
    for location in list(subschema_locations(value, BY_NAME[dialect])):
        if isinstance(location.schema, dict):
            edit(location.schema, location.pointer, edits)
    return (json.dumps(value), tuple(edits)) if edits else (schema, ())


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


def _without_names(schema: dict[str, Json], where: str, edits: list[str]) -> None:
    for name in _NOT_FOR_GEMINI:
        if isinstance(schema.get(name), str):
            del schema[name]
            edits.append(f"{name} dropped at {where or 'the root'}")


#: What the request calls the schema; servers want a name for it.
_SCHEMA_NAME: Final = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDialect:
    """One way to ask a server for JSON that satisfies a schema.

    Example:
        >>> ServerDialect(
        ...     name="vllm",
        ...     summary="vLLM's structured_outputs (from 0.12)",
        ...     body=lambda text: {"structured_outputs": {"json": json.loads(text)}},
        ... )
    """

    #: What `--engine` calls it.
    name: str
    #: One line for a list of all dialects.
    summary: str
    #: Members of the request's body, for a schema's text.
    body: Callable[[str], Mapping[str, Json]]
    #: Takes a schema's text and its JSON Schema dialect; returns the schema that is
    #: sent, and one line for each edit.
    adapt: Callable[[str, str], tuple[str, tuple[str, ...]]] = unchanged
    #: Environment variables that may hold the key; the first one that is set counts.
    keys: tuple[str, ...] = ("OPENAI_API_KEY",)
    #: Whether anything constrains the text.
    constrains: bool = True
    #: The member that bounds the text's tokens.
    budget: str = "max_tokens"
    #: Paths at which such a server describes itself, beside its list of models.
    described_at: tuple[str, ...] = ("/version",)
    #: Takes what it answers there, by path; returns which library constrains the
    #: text, empty where that is not told.
    backend: Callable[[Mapping[str, Json]], str] = lambda _answers: ""


def response_format(schema: str, *, strict: bool) -> Mapping[str, Json]:
    """Return `response_format` of type `json_schema`, as OpenAI's API defines it."""
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": _SCHEMA_NAME,
                "strict": strict,
                "schema": json.loads(schema),
            },
        }
    }


_REGISTRY = Registry[ServerDialect](
    noun="server dialect",
    classes=(ServerDialect,),
    attribute="DIALECT",
    groups=("csbdata.servers",),
    package="evaluation.servers.dialects",
)


@cache
def server_dialects() -> Mapping[str, ServerDialect]:
    """Return every dialect by name, in alphabetical order.

    Raises:
        BadConfiguration: two places define one name, or an entry point is no dialect.
    """
    return MappingProxyType(dict(sorted(_REGISTRY.by_name().items())))


def server_dialect(name: str) -> ServerDialect:
    """Return a dialect by its name.

    Raises:
        BadConfiguration: there is none of this name; the message names alike ones.
    """
    dialects = server_dialects()
    if name not in dialects:
        raise _REGISTRY.unknown(name, dialects)
    return dialects[name]
