"""Verdicts of a keyword on all values of a type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.instances.constraints.assertions import Assertion
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import Conjunction
from curation.instances.constraints.keyword_values import (
    KNOWN_FORMATS,
    names_of,
    number_of,
    object_of,
)
from curation.json.values import is_number, type_of
from curation.schema.keywords import REFERENCE_KEYWORDS, TYPE_OF_KEYWORD

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.subschemas import SchemaLocation

    _Decision: TypeAlias = Callable[
        [CompiledSchema, SchemaLocation, str, str, int], bool | None
    ]


class ImplicationQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Does every value of a type that fails a keyword fail another one too?"""

    compiled: CompiledSchema
    #: Everything that applies to the value.
    conjunction: Conjunction
    #: The keyword, and the schema that holds it.
    assertion: Assertion
    #: One of `ALL_TYPES`.
    kind: str
    #: The other keywords that can refuse the value.
    other_assertions: tuple[Assertion, ...]

    @property
    def location(self) -> SchemaLocation:
        """Where the schema stands that holds the keyword."""
        return self.assertion.location

    @property
    def keyword(self) -> str:
        """The name of the keyword."""
        return self.assertion.keyword

    @property
    def schema(self) -> dict[str, Json]:
        """The schema that holds the keyword."""
        schema: dict[str, Json] = self.location.schema
        return schema

    @property
    def operand(self) -> Json:
        """The keyword's value."""
        return self.schema[self.keyword]

    @property
    def bound(self) -> float:
        """The keyword's value, which is a number."""
        return number_of(self.schema, self.keyword)

    def values(self, keyword: str) -> Iterator[Json]:
        """Yield the values of the other keywords of a name."""
        for other in self.other_assertions:
            if other.keyword == keyword:
                yield other.location.schema[keyword]

    def numbers(self, keyword: str) -> list[float]:
        """Return the numbers among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if is_number(value)]

    def texts(self, keyword: str) -> list[str]:
        """Return the strings among the values of the other keywords of a name."""
        return [value for value in self.values(keyword) if isinstance(value, str)]


#: Schemas entered one from another.
_DEEPEST: Final = 8
_NUMBERS: Final = ("integer", "number")
#: Keyword to the types of values that it can refuse. jsonschema-rs asserts
#: `contentEncoding` and `contentMediaType` in some dialects, `contentSchema` in none.
_SPOKEN_OF: Final[dict[str, tuple[str, ...]]] = {
    keyword: _NUMBERS if value_type == "number" else (value_type,)
    for keyword, value_type in TYPE_OF_KEYWORD.items()
    if keyword not in ("contentSchema", "divisibleBy")
}
#: Patterns that match the beginning of every text, if need be by nothing.
_MATCHES_ALL: Final = re.compile(
    r"\^?(?:(?:\.|\\[dDwWsS]|\[(?:[^\]\\]|\\.)+\]|[\w ])(?:[*?]|\{0,\d*\})\??)?"
)
_SINGLETONS: Final[dict[str, int]] = {"null": 1, "boolean": 2}


def schema_verdict(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int = _DEEPEST
) -> bool | None:
    """Return the verdict of a schema on all values of a type.

    Args:
        compiled: Its schema.
        location: Its place.
        kind: One of `ALL_TYPES`.
        depth: Nesting so far.

    Example:
        >>> compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
        >>> [schema_verdict(compiled, compiled.root, t) for t in ("string", "null")]
        [True, False]
    """
    schema = location.schema
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth <= 0:
        return None
    keywords: Sequence[str] = tuple(schema)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        keywords = ("$ref",)
    return _all_of(
        [
            keyword_verdict(compiled, location, keyword, kind, depth)
            for keyword in keywords
        ]
    )


def keyword_verdict(
    compiled: CompiledSchema,
    location: SchemaLocation,
    keyword: str,
    kind: str,
    depth: int = _DEEPEST,
) -> bool | None:
    """Return the verdict of one keyword on all values of a type.

    Args:
        compiled: Its schema.
        location: The schema that holds the keyword.
        keyword: Its name.
        kind: One of `ALL_TYPES`.
        depth: Nesting so far.
    """
    if keyword == "format" and location.schema["format"] not in KNOWN_FORMATS:
        return True
    if keyword in _SPOKEN_OF:
        return _bound_verdict(location.schema, keyword, kind)
    if keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword)
        if target is None:
            return None
        return schema_verdict(compiled, target, kind, depth - 1)
    decide = _DECISIONS.get(keyword)
    if decide is None or keyword not in compiled.dialect.effective:
        return True
    return decide(compiled, location, keyword, kind, depth)


def _bound_verdict(schema: Mapping[str, Json], keyword: str, kind: str) -> bool | None:
    if kind not in _SPOKEN_OF[keyword] or _asks_nothing(schema, keyword):
        return True
    value = schema[keyword]
    if keyword == "multipleOf" and is_number(value) and value > 0:
        step = Fraction(str(value))
        if kind == "integer" and (1 / step).denominator == 1:
            return True
        if kind == "number" and step.denominator == 1:
            return False
    return None


def _asks_nothing(schema: Mapping[str, Json], keyword: str) -> bool:
    if keyword == "pattern":
        pattern = schema["pattern"]
        return isinstance(pattern, str) and bool(_MATCHES_ALL.fullmatch(pattern))
    if keyword == "additionalProperties":
        patterns = object_of(schema, "patternProperties")
        return any(_MATCHES_ALL.fullmatch(pattern) for pattern in patterns)
    return False


def _all_of(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _any_of(verdicts: list[bool | None]) -> bool | None:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _one_of(verdicts: list[bool | None]) -> bool | None:
    if verdicts.count(True) > 1:
        return False
    if None in verdicts:
        return None
    return verdicts.count(True) == 1


_COMBINATIONS: Final = {"allOf": _all_of, "anyOf": _any_of, "oneOf": _one_of}


def _branches_verdict(
    compiled: CompiledSchema,
    location: SchemaLocation,
    keyword: str,
    kind: str,
    depth: int,
) -> bool | None:
    branches = compiled.branches(location, keyword)
    return _COMBINATIONS[keyword](
        [schema_verdict(compiled, branch, kind, depth - 1) for branch in branches]
    )


def _type_verdict(
    _: CompiledSchema, location: SchemaLocation, __: str, kind: str, ___: int
) -> bool | None:
    names = names_of(location.schema["type"])
    return kind in names or (kind == "integer" and "number" in names)


def _values_verdict(
    _: CompiledSchema, location: SchemaLocation, keyword: str, kind: str, __: int
) -> bool | None:
    value = location.schema[keyword]
    values = value if keyword == "enum" else [value]
    if not isinstance(values, list):
        return None
    count = len({repr(value) for value in values if type_of(value) == kind})
    if not count:
        return False
    return True if count == _SINGLETONS.get(kind) else None


def _not_verdict(
    compiled: CompiledSchema, location: SchemaLocation, _: str, kind: str, depth: int
) -> bool | None:
    denied = compiled.child(location, ("not",))
    verdict = schema_verdict(compiled, denied, kind, depth - 1)
    return None if verdict is None else not verdict


def _if_verdict(
    compiled: CompiledSchema, location: SchemaLocation, _: str, kind: str, depth: int
) -> bool | None:
    def part(keyword: str) -> bool | None:
        if keyword not in location.schema:
            return True
        inner = compiled.child(location, (keyword,))
        return schema_verdict(compiled, inner, kind, depth - 1)

    condition, then, other = part("if"), part("then"), part("else")
    if condition is None:
        return then if then is other else None
    return then if condition else other


_DECISIONS: Final[dict[str, _Decision]] = {
    "type": _type_verdict,
    "enum": _values_verdict,
    "const": _values_verdict,
    **dict.fromkeys(_COMBINATIONS, _branches_verdict),
    "not": _not_verdict,
    "if": _if_verdict,
}
