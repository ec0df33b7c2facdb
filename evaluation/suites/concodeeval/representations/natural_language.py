r"""English: the schemas of the twelve families in sentences of fixed forms.

There are four forms: a scalar, an object of scalars, and an array of either, by `items`
or by `contains`. A schema beyond them is described rule by rule (`english_rules`). What
is read back of a description equals the schema, key order aside.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from evaluation.suites.concodeeval.representations.english_phrases import (
    COUNT_PHRASES,
    NOUNS,
    PHRASES,
    read_phrase,
    read_scalar,
    say_scalar,
)
from evaluation.suites.concodeeval.representations.english_rules import (
    HEAD,
    read_rules,
    say_rules,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json

    Schema = dict[str, Json]

_FORMAT_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SCALAR: Final = "The schema defines a single value:"
_OBJECT: Final = "The schema defines the structure of an object."
_EVERY: Final = "The schema defines an array. Every element must be as follows:"
_SOME: Final = (
    "The schema defines an array. Its elements may be anything, but some of them must "
    "be as follows:"
)
_TOP: Final = "Top-level properties"
_PROPERTIES: Final = "Properties object"
_OF_OBJECT: Final = '* `type`: The value is an object (`"object"`).'
_LISTED: Final = "* `properties`: The properties that are described below."
_OTHERS: Final = "* `additionalProperties`: Whether other properties are allowed:"
_REQUIRED: Final = "* `required`: These properties must be there:"
_NONE_REQUIRED: Final = "* `required`: No property has to be there."
_OBJECT_KEYWORDS: Final = ("type", "properties", "additionalProperties", "required")
_COUNTS: Final = tuple(phrase.keyword for phrase in COUNT_PHRASES)
_SCALAR_KEYWORDS: Final = ("type", *(phrase.keyword for phrase in PHRASES))


def write_english(schema: Json) -> str:
    """Return a schema's description: in one of the four forms, else rule by rule.

    Example:
        >>> print(write_english({"type": "string", "maxLength": 9}))
        The schema defines a single value:
        A string that must be at most 9 characters long
    """
    try:
        return "\n".join(_schema(schema))
    except _BeyondFormsError:
        return say_rules(schema)


def schema_from_english(text: str) -> Json:
    """Return the schema of a description that `write_english` wrote.

    Raises:
        ValueError: it is no such description.
    """
    lines = [line for line in text.split("\n") if line]
    if not lines:
        raise ValueError("no description")
    match lines[0]:
        case str(first) if first == HEAD:
            return read_rules(text)
        case str(first) if first == _SCALAR:
            return read_scalar("\n".join(lines[1:]))
        case str(first) if first == _OBJECT:
            return _read_object(lines[1:])
        case str(first) if first in (_EVERY, _SOME):
            return _read_array(lines, "items" if first == _EVERY else "contains")
    raise ValueError(f"no form of description begins with {lines[0]!r}")


class _BeyondFormsError(Exception):
    """A schema that the forms do not cover, and what is too much."""


def _schema(schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict):
        raise _BeyondFormsError("a boolean schema")
    if schema.get("type") == "array":
        yield from _array(schema)
    elif schema.get("type") == "object":
        yield from _object(schema)
    else:
        yield _SCALAR
        yield _scalar(schema)


def _array(schema: Schema) -> Iterator[str]:
    holders = [name for name in ("items", "contains") if name in schema]
    if len(holders) != 1:
        raise _BeyondFormsError("an array with items and contains, or with neither")
    _check_keywords(schema, ("type", *holders, *_COUNTS))
    yield _EVERY if holders[0] == "items" else _SOME
    inner = schema[holders[0]]
    if isinstance(inner, dict) and inner.get("type") == "object":
        yield from _object(inner)
    else:
        yield _scalar(inner)
    for phrase in COUNT_PHRASES:
        if phrase.keyword in schema:
            yield phrase.say(schema[phrase.keyword])


def _object(schema: Schema) -> Iterator[str]:
    _check_keywords(schema, _OBJECT_KEYWORDS)
    properties = schema.get("properties")
    is_open = schema.get("additionalProperties")
    if not isinstance(properties, dict) or not isinstance(is_open, bool):
        raise _BeyondFormsError("an object without properties, or open by a schema")
    yield from (_OBJECT, "", _TOP, "", _OF_OBJECT, _LISTED, f"{_OTHERS} {is_open}")
    required = schema.get("required")
    if isinstance(required, list):
        yield f"{_REQUIRED} {json.dumps(required)}" if required else _NONE_REQUIRED
    yield from ("", _PROPERTIES, "")
    for name, inner in properties.items():
        # A name that may be taken for something else is quoted as in JSON.
        shown = name if name.isidentifier() else json.dumps(name)
        yield f"{shown}: {_scalar(inner)}"


def _scalar(schema: Json) -> str:
    if not isinstance(schema, dict):
        raise _BeyondFormsError("a boolean schema")
    _check_keywords(schema, _SCALAR_KEYWORDS)
    kind = schema.get("type")
    if schema and (not isinstance(kind, str) or kind not in NOUNS):
        raise _BeyondFormsError(f"the type {json.dumps(kind)}")
    for keyword, value in schema.items():
        if not is_number(value) and not (
            isinstance(value, str) and _FORMAT_NAME.fullmatch(value)
        ):
            raise _BeyondFormsError(f"the value of {keyword}")
    return say_scalar(schema)


def _check_keywords(schema: Schema, known: Sequence[str]) -> None:
    """Refuse what there are no words for.

    Raises:
        _BeyondFormsError: a keyword is not known here.
    """
    unknown = [keyword for keyword in schema if keyword not in known]
    if unknown:
        raise _BeyondFormsError(f"the keyword {unknown[0]}")


def _read_array(lines: Sequence[str], holder: str) -> Schema:
    counts: Schema = {}
    rest = list(lines[1:])
    while rest and rest[-1].startswith(tuple(phrase.words for phrase in COUNT_PHRASES)):
        keyword, value = read_phrase(rest.pop())
        counts[keyword] = value
    is_object = bool(rest) and rest[0] == _OBJECT
    inner = _read_object(rest[1:]) if is_object else read_scalar("\n".join(rest))
    return {"type": "array", holder: inner, **counts}


def _read_object(lines: Sequence[str]) -> Schema:
    """Read an object's lines after the first.

    Raises:
        ValueError: they are not as `write_english` writes them.
    """
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
        elif line not in (_TOP, _OF_OBJECT, _LISTED):
            raise ValueError(f"no line of an object: {line!r}")
    schema["properties"] = dict(_read_property(line) for line in lines[split + 1 :])
    return schema


def _read_property(line: str) -> tuple[str, Json]:
    if line.startswith('"'):
        name, end = json.JSONDecoder().raw_decode(line)
        return str(name), read_scalar(line[end:].removeprefix(": "))
    shown, _, phrase = line.partition(": ")
    return shown, read_scalar(phrase)
