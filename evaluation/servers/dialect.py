"""Server dialects: ways to ask for JSON that satisfies a schema, one file each.

`--engine` names one if `--model` is a server. Another package adds one through the
entry point group `csbdata.servers` (the `ServerDialect` itself, or a module that holds
one as `DIALECT`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from curation.core.json_types import Json
from curation.system.errors import BadUsage
from curation.system.registry import Registry


class Adapt(StrEnum):
    """What is done with a schema that a provider does not take."""

    NONE = "none"
    """It is sent as it is."""
    SAFE = "safe"
    """It is rewritten if all answers stay valid; else it is not declared."""
    NEAREST = "nearest"
    """It is rewritten, and what the provider cannot hold is dropped."""


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
    #: The profile of what it takes (`curation.fit.profile`); empty: it tells itself.
    profile: str = ""
    #: Environment variables that may hold the key; the first one that is set counts.
    keys: tuple[str, ...] = ("OPENAI_API_KEY",)
    #: Whether anything constrains the text.
    constrains: bool = True
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
