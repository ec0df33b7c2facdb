"""English for any schema: one rule a line, the rules of its parts indented below.

The four forms of `natural_language` are those of the published templates; this one is
for the schemas that they do not cover, real ones above all. It says every keyword: one
without words of its own by its name.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json

    Schema = dict[str, Json]

#: The first line of a description.
HEAD: Final = "The schema defines a value that follows these rules:"
_NO_RULE: Final = "any value"
_INDENT: Final = "  "
_WORDS: Final = {
    "type": "its type is",
    "enum": "it is one of",
    "const": "it is",
    "properties": "its members",
    "required": "these members must be there",
    "additionalProperties": "other members",
    "patternProperties": "members whose names match a pattern",
    "propertyNames": "the names of its members",
    "minProperties": "the least number of members is",
    "maxProperties": "the largest number of members is",
    "items": "its elements",
    "prefixItems": "its first elements",
    "contains": "some of its elements",
    "minContains": "the least number of such elements is",
    "maxContains": "the largest number of such elements is",
    "minItems": "the least number of elements is",
    "maxItems": "the largest number of elements is",
    "uniqueItems": "that all elements differ is",
    "minLength": "the least number of characters is",
    "maxLength": "the largest number of characters is",
    "pattern": "it matches the pattern",
    "format": "it has the format",
    "minimum": "it is greater than or equal to",
    "exclusiveMinimum": "it is strictly greater than",
    "maximum": "it is less than or equal to",
    "exclusiveMaximum": "it is strictly less than",
    "multipleOf": "it is a multiple of",
    "allOf": "it follows all of these",
    "anyOf": "it follows at least one of these",
    "oneOf": "it follows exactly one of these",
    "not": "it does not follow these",
    "if": "if it follows these",
    "then": "then it follows these",
    "else": "else it follows these",
    "$ref": "it follows the rules at",
    "$defs": "rules that others refer to",
    "title": "it is called",
    "description": "it is described as",
}
_KEYWORDS: Final = {words: keyword for keyword, words in _WORDS.items()}
#: Keywords that hold schemas: by name, in turn, or one.
_BY_NAME: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
)
_IN_TURN: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_ONE: Final = frozenset(
    """items additionalItems additionalProperties propertyNames contains not if then
    else unevaluatedItems unevaluatedProperties""".split()  # noqa: SIM905 (a list)
)


def say_rules(schema: Json) -> str:
    """Return the description of any schema.

    Example:
        >>> print(say_rules({"type": "string", "pattern": "^a"}))
        The schema defines a value that follows these rules:
        - its type is: "string"
        - it matches the pattern: "^a"
    """
    if not isinstance(schema, dict):
        return f"{HEAD}\n{json.dumps(schema)}"
    return "\n".join([HEAD, *_rules(schema, "")])


def read_rules(text: str) -> Json:
    """Return the schema of a description that `say_rules` has said.

    Raises:
        ValueError: it is no such description.
    """
    head, *lines = text.split("\n")
    if head != HEAD:
        raise ValueError(f"no description begins with {head!r}")
    if len(lines) == 1 and not lines[0].startswith("- "):
        return bool(json.loads(lines[0]))
    return _RulesReader(lines).rules("")


def _rules(schema: Schema, indent: str) -> Iterator[str]:
    for keyword, value in schema.items():
        said = f"{indent}- {_words_of(keyword)}"
        inner = indent + _INDENT
        if keyword in _BY_NAME and _holds_schemas(value):
            yield f"{said}, by name:"
            for name, part in value.items() if isinstance(value, dict) else ():
                yield from _part(json.dumps(name), part, inner)
        elif keyword in _IN_TURN and isinstance(value, list) and _all_objects(value):
            yield f"{said}, in turn:"
            for number, part in enumerate(value, start=1):
                yield from _part(str(number), part, inner)
        elif keyword in _ONE and isinstance(value, dict):
            yield from _part(said.removeprefix(f"{indent}- "), value, indent)
        else:
            yield f"{said}: {json.dumps(value)}"


def _part(said: str, schema: Json, indent: str) -> Iterator[str]:
    """Yield a line with the rules of a part below it."""
    if not isinstance(schema, dict) or not schema:
        yield f"{indent}- {said}: {_NO_RULE}"
        return
    yield f"{indent}- {said}:"
    yield from _rules(schema, indent + _INDENT)


def _words_of(keyword: str) -> str:
    return _WORDS.get(keyword) or f"its keyword {json.dumps(keyword)} is"


def _holds_schemas(value: Json) -> bool:
    return isinstance(value, dict) and _all_objects(list(value.values()))


def _all_objects(values: list[Json]) -> bool:
    return bool(values) and all(isinstance(value, dict) for value in values)


class _RulesReader:
    """Reads lines of rules, each level by its indent."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self._place = lines, 0

    def rules(self, indent: str) -> Schema:
        """Read the rules of one schema.

        Raises:
            ValueError: a line is no rule.
        """
        schema: Schema = {}
        while (rest := self._next(indent)) is not None:
            keyword, rest = _read_keyword(rest)
            inner = indent + _INDENT
            if rest == ", by name:":
                schema[keyword] = dict(self._parts(inner))
            elif rest == ", in turn:":
                schema[keyword] = [part for _, part in self._parts(inner)]
            else:
                schema[keyword] = self._value(rest, inner)
        if not indent and self._place < len(self._lines):
            raise ValueError(f"no rule: {self._lines[self._place]!r}")
        return schema

    def _parts(self, indent: str) -> Iterator[tuple[str, Json]]:
        """Yield the parts of a list of schemas, each with its name."""
        while (rest := self._next(indent)) is not None:
            name, end = json.JSONDecoder().raw_decode(rest)
            yield str(name), self._value(rest[end:], indent + _INDENT)

    def _value(self, rest: str, inner: str) -> Json:
        """Read what stands behind the words of a rule, on its line or below it."""
        if rest == ":":
            return self.rules(inner)
        if not rest.startswith(": "):
            raise ValueError(f"no rule: {rest!r}")
        if rest == f": {_NO_RULE}":
            return {}
        value: Json = json.loads(rest[2:])
        return value

    def _next(self, indent: str) -> str | None:
        """Return the next line of this level without its mark; None at its end."""
        start = f"{indent}- "
        if self._place < len(self._lines):
            line = self._lines[self._place]
            if line.startswith(start):
                self._place += 1
                return line.removeprefix(start)
        return None


def _read_keyword(rest: str) -> tuple[str, str]:
    """Return the keyword that a rule begins with, and what comes after its words.

    Raises:
        ValueError: it begins with no words of ours.
    """
    named = "its keyword "
    if rest.startswith(named):
        keyword, end = json.JSONDecoder().raw_decode(rest, len(named))
        return str(keyword), rest[end:].removeprefix(" is")
    place = min((found for found in map(rest.find, (":", ",")) if found > 0), default=0)
    if rest[:place] not in _KEYWORDS:
        raise ValueError(f"no rule: {rest!r}")
    return _KEYWORDS[rest[:place]], rest[place:]
