"""What a schema or keyword says of all values of one type at once.

True: it accepts every one. False: it refuses every one. None: it depends, or nobody
knows. True and False are certain; that is what proofs are made of.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.assertions import KNOWN_FORMATS
from curation.json.values import is_number, type_of
from curation.schema.keywords import REFERENCE_KEYWORDS, TYPE_OF_KEYWORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.locations import SchemaLocation

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
    """Return what the schema of a place says of all values of a type."""
    schema = location.schema
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth <= 0:
        return None
    words: Sequence[str] = tuple(schema)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        words = ("$ref",)
    said = [keyword_verdict(compiled, location, word, kind, depth) for word in words]
    if False in said:
        return False
    return None if None in said else True


def keyword_verdict(
    compiled: CompiledSchema,
    location: SchemaLocation,
    word: str,
    kind: str,
    depth: int = _DEEPEST,
) -> bool | None:
    """Return what one keyword of a place says of all values of a type."""
    if word == "format" and location.schema["format"] not in KNOWN_FORMATS:
        return True
    if word in _SPOKEN_OF:
        return _of_bound(location.schema, word, kind)
    if word in REFERENCE_KEYWORDS:
        target = compiled.target(location, word)
        return (
            None
            if target is None
            else schema_verdict(compiled, target, kind, depth - 1)
        )
    decide = _DECISIONS.get(word)
    if decide is None or word not in (*compiled.dialect.effective, *REFERENCE_KEYWORDS):
        return True
    return decide(compiled, location, kind, depth)


def _of_bound(schema: dict[str, UntypedJson], word: str, kind: str) -> bool | None:
    if kind not in _SPOKEN_OF[word] or _is_empty(schema, word):
        return True
    if word == "multipleOf" and is_number(schema[word]) and schema[word] > 0:
        step = Fraction(str(schema[word]))
        if kind == "integer" and (1 / step).denominator == 1:
            return True
        if kind == "number" and step.denominator == 1:
            return False
    return None


def _is_empty(schema: dict[str, UntypedJson], word: str) -> bool:
    """Tell whether a pattern matches every text, or takes every name."""
    if word == "pattern":
        return bool(_MATCHES_ALL.fullmatch(schema["pattern"]))
    if word == "additionalProperties":
        members = schema.get("patternProperties")
        names = members if isinstance(members, dict) else ()
        return any(_MATCHES_ALL.fullmatch(each) for each in names)
    return False


def _of_type(
    _: CompiledSchema, location: SchemaLocation, kind: str, __: int
) -> bool | None:
    named = location.schema["type"]
    names = [named] if isinstance(named, str) else named
    return kind in names or (kind == "integer" and "number" in names)


def _of_values(
    word: str,
) -> Callable[[CompiledSchema, SchemaLocation, str, int], bool | None]:
    def decide(
        _: CompiledSchema, location: SchemaLocation, kind: str, __: int
    ) -> bool | None:
        listed = location.schema[word] if word == "enum" else [location.schema[word]]
        if not isinstance(listed, list):
            return None
        count = len({repr(each) for each in listed if type_of(each) == kind})
        if not count:
            return False
        return True if count == _SINGLETONS.get(kind) else None

    return decide


def _branches(
    compiled: CompiledSchema, location: SchemaLocation, word: str, kind: str, depth: int
) -> list[bool | None]:
    value = location.schema[word]
    count = len(value) if isinstance(value, list) else 0
    return [
        schema_verdict(
            compiled, compiled.child(location, (word, str(index))), kind, depth - 1
        )
        for index in range(count)
    ]


def _all_of(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int
) -> bool | None:
    said = _branches(compiled, location, "allOf", kind, depth)
    if False in said:
        return False
    return None if None in said else True


def _any_of(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int
) -> bool | None:
    said = _branches(compiled, location, "anyOf", kind, depth)
    if True in said:
        return True
    return None if None in said else False


def _one_of(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int
) -> bool | None:
    said = _branches(compiled, location, "oneOf", kind, depth)
    if said.count(True) > 1:
        return False
    if None in said:
        return None
    return said.count(True) == 1


def _not(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int
) -> bool | None:
    said = schema_verdict(compiled, compiled.child(location, ("not",)), kind, depth - 1)
    return None if said is None else not said


def _if(
    compiled: CompiledSchema, location: SchemaLocation, kind: str, depth: int
) -> bool | None:
    def part(word: str) -> bool | None:
        if word not in location.schema:
            return True
        return schema_verdict(
            compiled, compiled.child(location, (word,)), kind, depth - 1
        )

    test, then, other = part("if"), part("then"), part("else")
    if test is None:
        return then if then is other else None
    return then if test else other


_DECISIONS: Final[
    dict[str, Callable[[CompiledSchema, SchemaLocation, str, int], bool | None]]
] = {
    "type": _of_type,
    "enum": _of_values("enum"),
    "const": _of_values("const"),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}
