"""Contradictions within one schema object, and the tables of all findings.

`tables.json` has the meaning of each code, the sentences of `csbdata check` with names
in them, and the words that it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import re2

from curation.json.values import is_number, json_type
from curation.schema.dialects import DRAFT_06, Dialect

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

TABLES: Final = msgspec.json.decode(
    Path(__file__).with_name("tables.json").read_bytes(), type=dict[str, dict[str, str]]
)
#: Formats of draft-03 to 2020-12, at least one validator knowing each.
FORMATS: Final = frozenset(TABLES["formats"]["known"].split())
#: Lower bound, upper bound.
_BOUNDS: Final = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)


def list_types(value: Json, dialect: Dialect) -> frozenset[str]:
    """Return the names by which `type` may call a JSON value under a dialect."""
    name = json_type(value)
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


def contradictions(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterator[tuple[str, Tokens]]:
    """Yield the code of each contradiction in a schema object, with tokens inside it.

    It is assumed that no `$ref` hides its siblings.
    """
    for keyword in _without_typed_value(schema, dialect):
        yield "enum-type-conflict", (keyword,)
    names = schema.get("required")
    if isinstance(names, list) and allows(schema, "object"):
        for index, name in enumerate(names):
            if isinstance(name, str) and _forbids(schema, name):
                yield "required-forbidden", ("required", str(index))
    for bound in crossed(schema):
        yield "crossed-bounds", (bound,)


def _without_typed_value(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[str]:
    """Yield `enum` and `const` if none of their values has a type of the schema."""
    types = named_types(schema)
    if types is None:
        return
    lists = {"enum": schema.get("enum")}
    if "const" in schema and "const" in dialect.effective:
        lists["const"] = [schema["const"]]
    for keyword, values in lists.items():
        if isinstance(values, list) and not any(
            types & list_types(value, dialect) for value in values
        ):
            yield keyword


def _forbids(schema: Mapping[str, Json], name: str) -> bool:
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
    return not any(may_match(pattern, name) for pattern in patterns)


@lru_cache(maxsize=4096)
def may_match(pattern: str, name: str) -> bool:
    """Return whether a name may match a pattern of ECMA-262."""
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
