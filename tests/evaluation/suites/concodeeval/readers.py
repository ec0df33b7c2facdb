"""Readers of the representations: each gives the schema of a text that was written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.scorer import read_json, read_yaml_text
from evaluation.suites.concodeeval.suite import NotRead
from evaluation.suites.concodeeval.xml_answer import read_xml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json

    Schema = dict[str, Json]

_NOUNS = {
    "A number": "number",
    "A string": "string",
    "A boolean": "boolean",
    "A null": "null",
}
_PHRASES = {
    "multipleOf": "a multiple of (.+)",
    "minimum": "greater than or equal to (.+)",
    "exclusiveMinimum": "strictly greater than (.+)",
    "maximum": "less than or equal to (.+)",
    "exclusiveMaximum": "strictly less than (.+)",
    "format": "of the format (.+)",
    "minLength": "at least (.+) characters long",
    "maxLength": "at most (.+) characters long",
    "minContains": "Minimum number of such elements: (.+)",
    "maxContains": "Maximum number of such elements: (.+)",
}
_OBJECT = "The schema defines the structure of an object."
_PROPERTIES = "Properties object"
_OTHERS = "* `additionalProperties`: Whether other properties are allowed:"
_REQUIRED = "* `required`: These properties must be there:"
_NONE_REQUIRED = "* `required`: No property has to be there."
_FIXED = (
    "Top-level properties",
    '* `type`: The value is an object (`"object"`).',
    "* `properties`: The properties that are described below.",
)


def _value_of(found: Json | NotRead) -> Json:
    if not isinstance(found, NotRead):
        return found
    raise ValueError(found)


def schema_from_json(text: str) -> Json:
    """Return the schema of a JSON text."""
    return _value_of(read_json(text))


def schema_from_yaml(text: str) -> Json:
    """Return the schema of a YAML text."""
    return _value_of(read_yaml_text(text))


def schema_from_xml(text: str) -> Json:
    """Return the schema of an XML text."""
    return _value_of(read_xml(text, {}, "recommended"))


def schema_from_english(text: str) -> Json:
    """Return the schema of a description.

    Raises:
        ValueError: it is no description of the four forms.
    """
    lines = [line for line in text.split("\n") if line]
    if not lines:
        raise ValueError("no description")
    if lines[0] == "The schema defines a single value:":
        return _scalar("\n".join(lines[1:]))
    if lines[0] == _OBJECT:
        return _object(lines[1:])
    if lines[0].startswith("The schema defines an array. Every"):
        return _array(lines, "items")
    if lines[0].startswith("The schema defines an array. Its elements may"):
        return _array(lines, "contains")
    raise ValueError(f"no form of description begins with {lines[0]!r}")


def _array(lines: Sequence[str], holder: str) -> Schema:
    counts: Schema = {}
    inner = list(lines[1:])
    while inner and "number of such elements:" in inner[-1]:
        keyword, value = _phrase(inner.pop())
        counts[keyword] = value
    is_object = bool(inner) and inner[0] == _OBJECT
    schema = _object(inner[1:]) if is_object else _scalar("\n".join(inner))
    return {"type": "array", holder: schema, **counts}


def _object(lines: Sequence[str]) -> Schema:
    if _PROPERTIES not in lines:
        raise ValueError(f"an object without the line {_PROPERTIES!r}")
    split = lines.index(_PROPERTIES)
    schema: Schema = {"type": "object", "properties": {}}
    for line in lines[:split]:
        if line.startswith(_OTHERS):
            schema["additionalProperties"] = line.endswith(" True")
        elif line.startswith(_REQUIRED):
            schema["required"] = json.loads(line.removeprefix(_REQUIRED))
        elif line == _NONE_REQUIRED:
            schema["required"] = []
        elif line not in _FIXED:
            raise ValueError(f"no line of an object: {line!r}")
    schema["properties"] = dict(_property(line) for line in lines[split + 1 :])
    return schema


def _property(line: str) -> tuple[str, Json]:
    if line.startswith('"'):
        name, end = json.JSONDecoder().raw_decode(line)
        return str(name), _scalar(line[end:].removeprefix(": "))
    label, _, phrase = line.partition(": ")
    return label, _scalar(phrase)


def _scalar(text: str) -> Schema:
    if text == "Any value":
        return {}
    noun, _, phrases = text.partition(" that must be ")
    if noun not in _NOUNS:
        raise ValueError(f"no type is called {noun!r}")
    schema: Schema = {"type": _NOUNS[noun]}
    for phrase in phrases.split(", ") if phrases else ():
        keyword, value = _phrase(phrase)
        schema[keyword] = value
    return schema


def _phrase(text: str) -> tuple[str, Json]:
    for keyword, pattern in _PHRASES.items():
        found = re.fullmatch(pattern, text)
        if found is not None:
            is_name = keyword == "format"
            return keyword, found[1] if is_name else json.loads(found[1])
    raise ValueError(f"no phrase: {text!r}")
