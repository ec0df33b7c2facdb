"""What a server dialect is: one way to ask for JSON that satisfies a schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.servers.schema_adaptation import unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import Json

#: What the request calls the schema; servers want a name for it.
_SCHEMA_NAME: Final = "answer"


def _tells_nothing(_answers: Mapping[str, Json]) -> str:
    return ""


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
    backend: Callable[[Mapping[str, Json]], str] = _tells_nothing


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
