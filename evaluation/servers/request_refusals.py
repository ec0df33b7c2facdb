"""What a server that refuses a request has against it, in its own words.

Servers say it in a JSON object: OpenAI's `{"error": {"message", "param", "code"}}`, or
FastAPI's `{"detail": [{"loc", "msg"}]}`. Words are read where nothing else is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.escaping import shortened

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: Characters of a server's words that are repeated.
_SHOWN: Final = 300
#: Members of a request that hold a schema, by how their names begin.
_OF_SCHEMA: Final = (
    "response_format",
    "structured_outputs",
    "guided_",
    "json_schema",
    "grammar",
    "text.format",
    "generationconfig.responseschema",
)
_LONG: Final = re.compile(
    r"context[ _](?:length|size|window)|maximum (?:model|context) len|too many tokens"
    r"|(?:prompt|input) is too long|exceed\w* .{0,40}(?:context|max_model_len)",
    re.IGNORECASE,
)
_FILTER: Final = re.compile(
    r"content[ _](?:filter|management|policy)|responsibleai", re.IGNORECASE
)
_SCHEMA: Final = re.compile(
    r"schema|grammar|response_format|structured[ _]output|keyword|\$ref", re.IGNORECASE
)


class RefusalCause(Enum):
    """What a request is refused for."""

    SCHEMA = auto()
    CONTEXT = auto()
    """The prompt and the answer's budget do not fit into the model's context."""
    FILTER = auto()
    """The provider's content filter does not let the prompt pass."""
    OTHER = auto()
    """Another member of the request: `temperature`, `seed`, ..."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalWords:
    """A server's answer to a request that it does not take."""

    message: str
    #: The member of the request that is refused, where it is named.
    parameter: str = ""
    code: str = ""

    @property
    def cause(self) -> RefusalCause:
        """What the request is refused for, as far as the words tell."""
        words = f"{self.code} {self.message}"
        if _FILTER.search(words):
            return RefusalCause.FILTER
        if _LONG.search(words):
            return RefusalCause.CONTEXT
        if self.parameter:
            named = self.parameter.lower().startswith(_OF_SCHEMA)
            return RefusalCause.SCHEMA if named else RefusalCause.OTHER
        found = _SCHEMA.search(words)
        return RefusalCause.SCHEMA if found else RefusalCause.UNKNOWN

    def __str__(self) -> str:
        """Return the words, with the member that they are about."""
        about = f"{self.parameter}: " if self.parameter else ""
        return shortened(f"{about}{self.message}", _SHOWN)


def read_refusal(body: str) -> RefusalWords:
    """Return what the body of a refusal says.

    Example:
        >>> read_refusal('{"error": {"message": "no", "param": "temperature"}}').cause
        <RefusalCause.OTHER: 4>
    """
    try:
        found: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return RefusalWords(message=body)
    if not isinstance(found, dict):
        return RefusalWords(message=body)
    listed = found.get("detail")
    if isinstance(listed, list) and listed and isinstance(listed[0], dict):
        return _of_fastapi(listed[0])
    error = found.get("error", found)
    if not isinstance(error, dict):
        return RefusalWords(message=str(error))
    message = error.get("message") or error.get("detail") or body
    return RefusalWords(
        message=str(message),
        parameter=str(error.get("param") or ""),
        code=str(error.get("code") or error.get("type") or ""),
    )


def _of_fastapi(first: dict[str, Json]) -> RefusalWords:
    """Return the first complaint of a list; its `input` repeats the request."""
    where = first.get("loc")
    path = [str(part) for part in where] if isinstance(where, list) else []
    return RefusalWords(
        message=str(first.get("msg", "")),
        parameter=".".join(part for part in path if part != "body"),
    )
