"""A reader of descriptions in English: it gives the schema of a text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Schema = dict[str, Any]

_PHRASES = {
    "a multiple of (.+)": "multipleOf",
    "greater than or equal to (.+)": "minimum",
    "strictly greater than (.+)": "exclusiveMinimum",
    "less than or equal to (.+)": "maximum",
    "strictly less than (.+)": "exclusiveMaximum",
    "of the format (.+)": "format",
    "at least (.+) characters long": "minLength",
    "at most (.+) characters long": "maxLength",
    "Minimum number of such elements: (.+)": "minContains",
    "Maximum number of such elements: (.+)": "maxContains",
}
_OBJECT = "The schema defines the structure of an object."
_FIRST_LINES = {
    "The schema defines a single value:": "",
    "The schema defines an array. Every element must be as follows:": "items",
    "The schema defines an array. Its elements may be anything, but some of them must "
    "be as follows:": "contains",
}
#: Lines of an object, each with the kind of the member that it says, if any.
_MEMBERS = {
    "Top-level properties": "",
    r'\* `type`: The value is an object \(`"object"`\).': "",
    r"\* `properties`: The properties that are described below.": "",
    r"\* `(additionalProperties)`: Whether other properties are allowed: (.+)": "bool",
    r"\* `(required)`: These properties must be there: (.+)": "names",
    r"\* `(required)`: No property has to be there()\.": "names",
}


def schema_from_english(text: str) -> Schema:
    """Return the schema of a description; it raises for any other text."""
    first, *lines = (line for line in text.split("\n") if line)
    if first == _OBJECT:
        return _object(lines)
    holder = _FIRST_LINES[first]
    counts = [line for line in lines if "number of such elements:" in line]
    inner = lines[: len(lines) - len(counts)]
    schema = _object(inner[1:]) if inner[0] == _OBJECT else _scalar("\n".join(inner))
    return {"type": "array", holder: schema, **_phrases(counts)} if holder else schema


def _object(lines: Sequence[str]) -> Schema:
    end = lines.index("Properties object")
    schema: Schema = {"type": "object"}
    for line in lines[:end]:
        ((kind, found),) = _found(_MEMBERS, line)
        if kind == "bool":
            schema[found[1]] = found[2] == "True"
        elif kind:
            schema[found[1]] = json.loads(found[2] or "[]")
    schema["properties"] = {}
    for line in lines[end + 1 :]:
        label, phrases = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\w+): (.+)', line).groups()  # type: ignore[union-attr]  # it matches
        name = json.loads(label) if label.startswith('"') else label
        schema["properties"][name] = _scalar(phrases)
    return schema


def _scalar(text: str) -> Schema:
    if text == "Any value":
        return {}
    noun, _, phrases = text.partition(" that must be ")
    kind = re.fullmatch("A (number|string|boolean|null)", noun)[1]  # type: ignore[index]  # it matches
    return {"type": kind, **_phrases(phrases.split(", ") if phrases else ())}


def _phrases(texts: Iterable[str]) -> Schema:
    schema: Schema = {}
    for text in texts:
        ((keyword, found),) = _found(_PHRASES, text)
        schema[keyword] = found[1] if keyword == "format" else json.loads(found[1])
    return schema


def _found(patterns: dict[str, str], text: str) -> list[tuple[str, re.Match[str]]]:
    """Return the names of the patterns that match a text."""
    pairs = [(name, re.fullmatch(pattern, text)) for pattern, name in patterns.items()]
    return [(name, found) for name, found in pairs if found]
