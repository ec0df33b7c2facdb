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
from curation.system.errors import BadUsage
from curation.system.registry import Registry


def unchanged(schema: str, _dialect: str) -> tuple[str, tuple[str, ...]]:
    """Return the schema as it is, and no edit."""
    return schema, ()


def edit_subschemas(
    schema: str,
    dialect: str,
    edit: Callable[[dict[str, Json], str, list[str]], None],
) -> tuple[str, tuple[str, ...]]:
    """Apply an edit to every subschema of a copy, its root first.

    Args:
        schema: The schema's text.
        dialect: Its JSON Schema dialect, as `curation.schema.dialects` names it.
        edit: Changes one subschema, given its pointer, and adds a line for each edit.

    Returns:
        The new schema's text, and one line for each edit.
    """
    value: Json = json.loads(schema)
    edits: list[str] = []
    if not isinstance(value, dict):
        return schema, ()
    # The walk is finished before anything changes under it.
    for location in list(subschema_locations(value, BY_NAME[dialect])):
        if isinstance(location.schema, dict):
            edit(location.schema, location.pointer, edits)
    return (json.dumps(value), tuple(edits)) if edits else (schema, ())


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
        BadUsage: there is none of this name; the message names all.
    """
    dialects = server_dialects()
    if name not in dialects:
        raise BadUsage(
            f"there is no server dialect {name!r}: a server enforces schemas by itself",
            then=f"use --engine {', '.join(dialects)}",
        )
    return dialects[name]
