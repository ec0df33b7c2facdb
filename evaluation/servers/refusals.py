"""Parse a server's refusal, and classify it by the table of its provider."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.system.words import shortened

#: Characters repeated of a server's words.
_SHOWN: Final = 300
#: Members whose values are codes, wherever they are in an error.
_CODES: Final = ("code", "type", "status", "reason", "error_code")
_DELAY: Final = re.compile(r'"retryDelay": "([0-9.]{1,9})s"')
_HTTP_ERRORS: Final = range(400, 600)


class RefusalClass(StrEnum):
    """What a refusal means for the text, and for the run."""

    SCHEMA = "schema"
    """The schema is rejected."""
    PARAMETER = "parameter"
    """Another member is rejected: it is renamed or dropped where that is possible."""
    EXCLUDED = "excluded"
    """The model lacks this way to ask: the condition is not available."""
    CONTEXT = "context"
    """The prompt and the answer's budget do not fit into the model's context."""
    FILTERED = "filtered"
    """The provider's content filter rejects the prompt."""
    FAILED = "failed"
    """The model's answer breaks the schema; the server repeats it as an error."""
    EXHAUSTED = "exhausted"
    """No credit, quota or spend limit is left: the run ends."""
    KEY = "key"
    """The key is missing or wrong: the run ends."""
    MODEL = "model"
    """No such model: the run ends."""
    ADDRESS = "address"
    """No such server: the run ends."""
    WAIT = "wait"
    """Too many requests: all wait."""
    FAULT = "fault"
    """The server failed: the same is requested again."""
    UNKNOWN = "unknown"
    """The schema or something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error of a server: from a status, or inside a stream that began well."""

    status: int
    message: str
    #: The rejected member of the request, if it is named.
    parameter: str = ""
    codes: frozenset[str] = frozenset()
    #: The error as JSON, without its message.
    detail: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The model's text that failed on the schema, where it is repeated.
    failed_text: str = ""

    @property
    def delay(self) -> float:
        """Seconds that Gemini wants to be left alone (`RetryInfo`)."""
        match = _DELAY.search(self.detail)
        return float(match[1]) if match else 0.0

    def __str__(self) -> str:
        """Return the words, with the member that they are about."""
        about = f"{self.parameter}: " if self.parameter else ""
        return shortened(f"{about}{self.message}", _SHOWN)


class RefusalRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a table: all given conditions must hold."""

    class_: RefusalClass = msgspec.field(name="class")
    source: str
    status: str = ""
    code: str = ""
    member: str = ""
    phrase: str = ""
    detail: str = ""
    header: str = ""

    def holds(self, refusal: Refusal) -> bool:
        """Return whether a refusal is one of these."""
        headers = [f"{name.lower()}: {it}" for name, it in refusal.headers.items()]
        conditions = (
            (self.status, re.fullmatch, [str(refusal.status)]),
            (self.code, re.fullmatch, refusal.codes),
            (self.member, re.match, [refusal.parameter]),
            (self.phrase, re.search, [refusal.message]),
            (self.detail, re.search, [refusal.detail]),
            (self.header, re.fullmatch, headers),
        )
        return all(
            not pattern or any(match(pattern, value, re.IGNORECASE) for value in values)
            for pattern, match, values in conditions
        )


def read_refusal(
    status: int, body: str, headers: Mapping[str, str] | None = None
) -> Refusal:
    """Return the facts in the body of an error.

    Args:
        status: The response's; an error in a success names its own.
        body: JSON, as a rule: `{"error": {...}}`, or FastAPI's `{"detail": [...]}`.
        headers: The response's.

    Example:
        >>> refusal = read_refusal(400, '{"error": {"message": "no", "param": "seed"}}')
        >>> refusal.message, refusal.parameter
        ('no', 'seed')
    """
    headers = headers or {}
    try:
        content: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return Refusal(status=status, message=body, headers=headers)
    complaints = content.get("detail") if isinstance(content, dict) else None
    if isinstance(complaints, list) and complaints and isinstance(complaints[0], dict):
        # FastAPI's first complaint; its `input` repeats the request.
        path = complaints[0].get("loc")
        parts = [str(part) for part in path] if isinstance(path, list) else []
        return Refusal(
            status=status,
            message=str(complaints[0].get("msg", "")),
            parameter=".".join(part for part in parts if part != "body"),
            headers=headers,
        )
    error = content.get("error", content) if isinstance(content, dict) else body
    if not isinstance(error, dict):
        return Refusal(status=status, message=str(error), headers=headers)
    number = error.get("code")
    if status == 200 and isinstance(number, int) and number in _HTTP_ERRORS:  # noqa: PLR2004 (success)
        status = number
    rest = {name: value for name, value in error.items() if name != "message"}
    return Refusal(
        status=status,
        message=str(error.get("message") or error.get("detail") or body),
        parameter=str(error.get("param") or ""),
        codes=frozenset(_codes_in(rest)),
        detail=json.dumps(rest),
        headers=headers,
        failed_text=str(error.get("failed_generation") or ""),
    )


def _codes_in(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name in _CODES and isinstance(member, str):
                yield member
            yield from _codes_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from _codes_in(member)
