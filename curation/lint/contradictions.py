"""Lint checks of contradictory and unknown values of keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import re2

from curation.json.values import is_number
from curation.schema.dialects import DRAFT_06, Dialect
from curation.validation.patterns import is_prone

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class LintCheck:
    """One check of one schema, without what stands around it.

    Example:
        A check that flags every `pattern` that is empty::

            LintCheck(
                code="empty-pattern",
                meaning="a pattern that every text matches",
                concerns=having("pattern"),
                find=lambda schema, _: [("pattern",)] if not schema["pattern"] else [],
            )
    """

    code: str
    #: What is wrong, for the card and for `csbdata check`.
    meaning: str
    #: Whether a schema may have the defect in a dialect, by the names of its members;
    #: only such are looked at, and the answer is remembered.
    concerns: Callable[[frozenset[str], Dialect], bool]
    #: From a schema and its dialect to where it has the defect: tokens inside it.
    find: Callable[[Mapping[str, Json], Dialect], Iterable[Tokens]]


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
#: Lower bound, upper bound, and the type that both concern.
_BOUNDS = (
    ("minimum", "maximum", "number"),
    ("exclusiveMinimum", "maximum", "number"),
    ("minimum", "exclusiveMaximum", "number"),
    ("exclusiveMinimum", "exclusiveMaximum", "number"),
    ("minLength", "maxLength", "string"),
    ("minItems", "maxItems", "array"),
    ("minProperties", "maxProperties", "object"),
)
#: Control characters, and those that change the direction of text.
_HOSTILE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]"
)
_HOSTILE_NAMES = frozenset({"__proto__", "constructor", "prototype"})
_LONGEST_NAME = 1_000


def types_of(value: Json, dialect: Dialect) -> frozenset[str]:
    """Return the names by which `type` may call a JSON value under a dialect."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int):
        return frozenset({"integer", "number"})
    if isinstance(value, float):
        # Draft-04 calls 1.0 a number only; later drafts an integer too.
        whole = value.is_integer() and dialect.order >= DRAFT_06.order
        return frozenset({"integer", "number"} if whole else {"number"})
    for python_type, name in ((str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, python_type):
            return frozenset({name})
    return frozenset({"null"})


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


def _enum_type(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
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


def _hidden(schema: Mapping[str, Json], dialect: Dialect) -> bool:
    return dialect.ref_hides_siblings and "$ref" in schema


def _required(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    names = schema.get("required")
    if not isinstance(names, list) or _hidden(schema, dialect):
        return
    if not allows(schema, "object"):
        return
    for index, name in enumerate(names):
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


def crossed(schema: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield each lower bound above its upper bound, with the type they concern."""
    for low, high, type_name in _BOUNDS:
        least, most = schema.get(low), schema.get(high)
        if is_number(least) and is_number(most):
            strict = low.startswith("excl") or high.startswith("excl")
            if least > most or (strict and least == most):
                yield low, type_name


def _crossed(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    return [] if _hidden(schema, dialect) else [(low,) for low, _ in crossed(schema)]


def _format(schema: Mapping[str, Json], _dialect: Dialect) -> Iterable[Tokens]:
    value = schema.get("format")
    return [("format",)] if isinstance(value, str) and value not in FORMATS else []


def _format_type(schema: Mapping[str, Json], _dialect: Dialect) -> Iterable[Tokens]:
    value = schema.get("format")
    is_known = isinstance(value, str) and value in FORMATS
    return [("format",)] if is_known and not allows(schema, "string") else []


def _redos(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and is_prone(pattern):
        yield ("pattern",)
    names = schema.get("patternProperties")
    if isinstance(names, dict):
        for name in names:
            if is_prone(name):
                yield ("patternProperties", name)


def _hostile(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    names = schema.get("properties")
    if not isinstance(names, dict):
        return
    joined = " ".join(names)
    if len(joined) <= _LONGEST_NAME or max(map(len, names)) <= _LONGEST_NAME:
        harmless = _HOSTILE_NAMES.isdisjoint(names) and not _HOSTILE.search(joined)
        if harmless:
            return
    for name in names:
        long = len(name) > _LONGEST_NAME
        if long or name in _HOSTILE_NAMES or _HOSTILE.search(name):
            yield ("properties", name)


CHECKS = (
    LintCheck(
        code="enum-type-conflict",
        meaning="no value of `enum` or `const` has the type that stands beside it",
        concerns=lambda names, _: "type" in names and bool(names & {"enum", "const"}),
        find=_enum_type,
    ),
    LintCheck(
        code="required-forbidden",
        meaning="a required name that the same schema forbids",
        concerns=having("required"),
        find=_required,
    ),
    LintCheck(
        code="crossed-bounds",
        meaning="a lower bound above its upper bound",
        concerns=lambda names, _: any({low, high} <= names for low, high, _ in _BOUNDS),
        find=_crossed,
    ),
    LintCheck(
        code=UNKNOWN_FORMAT,
        meaning="a `format` that no draft and no validator knows",
        concerns=having("format"),
        find=_format,
    ),
    LintCheck(
        code="format-without-string",
        meaning="a `format` of strings where the type allows none",
        concerns=lambda names, _: names >= {"format", "type"},
        find=_format_type,
    ),
    LintCheck(
        code="redos-pattern",
        meaning="a pattern on which a backtracking engine may take exponential time",
        concerns=having("pattern", "patternProperties"),
        find=_redos,
    ),
    LintCheck(
        code="hostile-name",
        meaning="a property name with control or direction characters, of more than "
        "1,000 characters, or one that JavaScript objects have already",
        concerns=having("properties"),
        find=_hostile,
    ),
)
