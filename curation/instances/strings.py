"""Strings of a length, a pattern and a format."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import regress

if TYPE_CHECKING:
    import random

_WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
_EXAMPLES = {
    "date-time": "2024-05-06T07:08:09Z",
    "date": "2024-05-06",
    "time": "07:08:09Z",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "uri": "https://example.com/a",
    "uri-reference": "https://example.com/a",
    "iri": "https://example.com/a",
    "url": "https://example.com/a",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip-address": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "duration": "P1D",
    "regex": "^a$",
    "uri-template": "https://example.com/{a}",
    "color": "red",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StringShape:
    """Everything that applies to one string; lengths count code points."""

    min_length: int = 0
    max_length: int | None = None
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    not_patterns: tuple[str, ...] = ()
    #: The property's name, a hint for realistic values.
    name: str = ""


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> Any:  # noqa: ANN401 (a strategy)
    try:
        return regress.Regex(pattern, "u")
    except regress.RegressError:
        return regress.Regex(pattern)


@lru_cache(maxsize=256)
def _format(name: str) -> Any:  # noqa: ANN401 (a strategy)
    return jsonschema_rs.Draft7Validator(
        {"type": "string", "format": name}, validate_formats=True
    )


def matches(shape: StringShape, text: str) -> bool:
    """Tell whether a string is of that shape."""
    if len(text) < shape.min_length:
        return False
    if shape.max_length is not None and len(text) > shape.max_length:
        return False
    if any(_regex(each).find(text) is None for each in shape.patterns):
        return False
    if any(_regex(each).find(text) is not None for each in shape.not_patterns):
        return False
    return all(_format(each).is_valid(text) for each in shape.formats)


def choose(shape: StringShape, rng: random.Random) -> str | None:
    """Return a string of that shape, or None where none is known."""
    if shape.min_length > 10**7:
        return None
    for _ in range(20):
        text = rng.choice(_WORDS)
        for each in shape.formats:
            text = _EXAMPLES.get(each, text)
        if not shape.formats:
            if len(text) < shape.min_length:
                text += "x" * (shape.min_length - len(text))
            if shape.max_length is not None:
                text = text[: shape.max_length]
        if matches(shape, text):
            return text
    return None
