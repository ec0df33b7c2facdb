"""Lint checks of contradictory and unknown values of keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import re2

from curation.json.values import is_number, type_of
from curation.schema.dialects import DRAFT_06, Dialect
from curation.validation.patterns import is_prone

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens


FindDefects: TypeAlias = "Callable[[Mapping[str, Json], Dialect], Iterable[Tokens]]"
_Concerns: TypeAlias = Callable[[frozenset[str], Dialect], bool]


class LintCheck(NamedTuple):
    """One check of one schema, without its surroundings."""

    code: str
    #: What is wrong, for the card and for `csbdata check`.
    meaning: str
    #: Whether a schema may have the defect in a dialect, by the names of its members;
    #: only such are looked at, and the answer is remembered.
    concerns: _Concerns
    #: From a schema and its dialect to where it has the defect: tokens inside it.
    find: FindDefects


def having(*keywords: str) -> Callable[[frozenset[str], Dialect], bool]:
    """Return a `LintCheck.concerns`: whether one of these is among the names."""
    return lambda names, _dialect: not names.isdisjoint(keywords)


#: Code of the lint of a format that none of these is.
UNKNOWN_FORMAT = "unknown-format"
#: Formats of draft-03 to 2020-12, at least one validator knowing each.
FORMATS = frozenset(
    {
        *("color", "date", "date-time", "duration", "email", "host-name", "hostname"),
        *("idn-email", "idn-hostname", "ip-address", "ipv4", "ipv6", "iri"),
        *("iri-reference", "json-pointer", "regex", "relative-json-pointer", "time"),
        *("uri", "uri-reference", "uri-template", "uuid"),
    }
)
#: Lower bound, upper bound.
_BOUNDS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
#: Control characters, and those that change the direction of text.
_HOSTILE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]"
)
_HOSTILE_NAMES = frozenset({"__proto__", "constructor", "prototype"})
_LONGEST_NAME = 1_000


def types_of(value: Json, dialect: Dialect) -> frozenset[str]:
    """Return the names by which `type` may call a JSON value under a dialect."""
    name = type_of(value)
    # Draft-04 calls 1.0 a number only; later drafts an integer too.
    if isinstance(value, float) and dialect.order < DRAFT_06.order:
        name = "number"
    return frozenset({name, "number"} if name == "integer" else {name})


def named_types(schema: Mapping[str, Json]) -> frozenset[str] | None:
    """Return the types that a schema names, or None if it allows every type."""
    types = schema.get("type")
    if isinstance(types, str):
        return frozenset({types})
    if isinstance(types, list):
        return frozenset(name for name in types if isinstance(name, str))
    return None


def allows(schema: Mapping[str, Json], type_name: str) -> bool:
    """Return whether the `type` of a schema lets a type pass."""
    types = named_types(schema)
    return types is None or type_name in types


def _hidden(schema: Mapping[str, Json], dialect: Dialect) -> bool:
    return dialect.ref_hides_siblings and "$ref" in schema


def _enum_type_conflict(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterable[Tokens]:
    types = named_types(schema)
    if types is None or _hidden(schema, dialect):
        return
    values = schema.get("enum")
    if isinstance(values, list) and not any(
        types & types_of(value, dialect) for value in values
    ):
        yield ("enum",)
    judged = "const" in schema and "const" in dialect.effective
    if judged and not types & types_of(schema["const"], dialect):
        yield ("const",)


def _required_forbidden(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterable[Tokens]:
    names = schema.get("required")
    if not isinstance(names, list) or _hidden(schema, dialect):
        return
    for index, name in enumerate(names if allows(schema, "object") else ()):
        if isinstance(name, str) and forbidden(schema, name):
            yield ("required", str(index))


def forbidden(schema: Mapping[str, Json], name: str) -> bool:
    """Return whether an object that a schema accepts can surely not have a member.

    A pattern that cannot be matched in linear time counts as letting it pass.
    """
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        return properties[name] is False
    if schema.get("additionalProperties") is not False:
        return False
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return True
    return not any(_may_match(pattern, name) for pattern in patterns)


@lru_cache(maxsize=4096)
def _may_match(pattern: str, name: str) -> bool:
    if "\v" in name or ("\\s" in pattern and not name.isascii()):
        return True  # RE2 knows fewer blanks than ECMA-262
    try:
        return re2.search(pattern, name) is not None
    except re2.error:
        return True


def crossed(schema: Mapping[str, Json]) -> Iterator[str]:
    """Yield each lower bound above its upper bound."""
    for low, high in _BOUNDS:
        lower, upper = schema.get(low), schema.get(high)
        if is_number(lower) and is_number(upper):
            strict = low.startswith("excl") or high.startswith("excl")
            if lower > upper or (strict and lower == upper):
                yield low


def _known_format(schema: Mapping[str, Json]) -> bool | None:
    """Return whether the `format` of a schema is known; None if it has none."""
    value = schema.get("format")
    return value in FORMATS if isinstance(value, str) else None


def _redos_pattern(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    pattern, names = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str) and is_prone(pattern):
        yield ("pattern",)
    for name in names if isinstance(names, dict) else ():
        if is_prone(name):
            yield ("patternProperties", name)


def _hostile_name(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    names = schema.get("properties")
    for name in names if isinstance(names, dict) else ():
        long = len(name) > _LONGEST_NAME
        if long or name in _HOSTILE_NAMES or _HOSTILE.search(name):
            yield ("properties", name)


#: The checks of this module.
CHECKS: Final = (
    LintCheck(
        "enum-type-conflict",
        "no value of `enum` or `const` has the type that stands beside it",
        lambda names, _: "type" in names and bool(names & {"enum", "const"}),
        _enum_type_conflict,
    ),
    LintCheck(
        "required-forbidden",
        "a required name that the same schema forbids",
        having("required"),
        _required_forbidden,
    ),
    LintCheck(
        "crossed-bounds",
        "a lower bound above its upper bound",
        lambda names, _: any({*bounds} <= names for bounds in _BOUNDS),
        lambda schema, dialect: (
            [] if _hidden(schema, dialect) else [(low,) for low in crossed(schema)]
        ),
    ),
    LintCheck(
        UNKNOWN_FORMAT,
        "a `format` that no draft and no validator knows",
        having("format"),
        lambda schema, _: [("format",)] if _known_format(schema) is False else [],
    ),
    LintCheck(
        "format-without-string",
        "a `format` of strings where the type allows none",
        lambda names, _: names >= {"format", "type"},
        lambda schema, _: (
            [("format",)]
            if _known_format(schema) and not allows(schema, "string")
            else []
        ),
    ),
    LintCheck(
        "redos-pattern",
        "a pattern on which a backtracking engine may take exponential time",
        having("pattern", "patternProperties"),
        _redos_pattern,
    ),
    LintCheck(
        "hostile-name",
        "a property name with control or direction characters, of more than 1,000 "
        "characters, or one that JavaScript objects have already",
        having("properties"),
        _hostile_name,
    ),
)
