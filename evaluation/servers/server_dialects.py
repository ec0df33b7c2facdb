"""How servers are asked for JSON that satisfies a schema: one entry a dialect.

`--engine` names a dialect where `--model` is a server. Which engine the server runs
is not known for certain; how it describes itself is recorded in the run's header.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadConfiguration
from evaluation.servers.schema_adaptation import for_gemini, for_openai, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import Json

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


def _response_format(schema: str, *, strict: bool) -> Mapping[str, Json]:
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


_ALL: Final = (
    ServerDialect(
        name="json_schema",
        summary="response_format json_schema, as most servers take it",
        body=lambda schema: _response_format(schema, strict=False),
    ),
    ServerDialect(
        name="vllm",
        summary="vLLM's structured_outputs (from 0.12)",
        body=lambda schema: {"structured_outputs": {"json": json.loads(schema)}},
    ),
    ServerDialect(
        name="sglang",
        summary="SGLang's response_format json_schema",
        body=lambda schema: _response_format(schema, strict=True),
    ),
    ServerDialect(
        name="llama_server",
        summary="llama-server's response_format json_object with a schema",
        body=lambda schema: {
            "response_format": {"type": "json_object", "schema": json.loads(schema)}
        },
    ),
    ServerDialect(
        name="openai",
        summary="OpenAI's strict structured outputs; the schema is adapted",
        body=lambda schema: _response_format(schema, strict=True),
        adapt=for_openai,
        budget="max_completion_tokens",
    ),
    ServerDialect(
        name="gemini",
        summary="Gemini's OpenAI-compatible endpoint; the schema is adapted",
        body=lambda schema: _response_format(schema, strict=True),
        adapt=for_gemini,
        keys=("GEMINI_API_KEY", "OPENAI_API_KEY"),
    ),
    ServerDialect(
        name="none",
        summary="nothing is asked for: the prompt alone",
        body=lambda _schema: {},
        constrains=False,
    ),
)
SERVER_DIALECTS: Final[Mapping[str, ServerDialect]] = MappingProxyType(
    {dialect.name: dialect for dialect in _ALL}
)


def server_dialect(name: str) -> ServerDialect:
    """Return a dialect by its name.

    Raises:
        BadConfiguration: there is none of this name.
    """
    if name not in SERVER_DIALECTS:
        raise BadConfiguration(
            f"--engine {name!r} is no way to ask a server",
            then=f"with a server as --model say one of {', '.join(SERVER_DIALECTS)}",
        )
    return SERVER_DIALECTS[name]
