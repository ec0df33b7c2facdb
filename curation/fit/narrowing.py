"""Edits that narrow a schema: fewer values, each valid by the schema before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from curation.fit.edits import (
    DIALECT,
    SCALARS,
    Keywords,
    SchemaObject,
    Sites,
    asserting,
)
from curation.fit.scan import read_properties, read_required
from curation.instances.constraints.keyword_values import read_array
from curation.json.values import json_type
from curation.references.schema import Schema
from curation.schema.keywords import TYPE_OF_KEYWORD
from curation.schema.subschemas import edited, walk, without

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens

#: Keywords that show of which type a value is meant to be, the most telling first.
_MARKS: Final = (
    *("properties", "required", "additionalProperties", "patternProperties"),
    *("propertyNames", "items", "prefixItems", "minItems", "maxItems", "pattern"),
    *("format", "minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum"),
    *("exclusiveMaximum", "multipleOf"),
)
#: Formats that targets lack, each with a pattern whose every match has the format.
_PATTERNS: Final[Mapping[str, str]] = {
    "uri": r"^https?://[a-z][a-z0-9-]{0,30}[a-z0-9]\.[a-z]{2,20}(/[A-Za-z0-9._~-]+)*/?$",
    "iri": r"^https?://[a-z][a-z0-9-]{0,30}[a-z0-9]\.[a-z]{2,20}(/[A-Za-z0-9._~-]+)*/?$",
    "uri-reference": r"^(/[A-Za-z0-9._~-]+)+/?$",
    "iri-reference": r"^(/[A-Za-z0-9._~-]+)+/?$",
    "uri-template": r"^(/[A-Za-z0-9._~-]+)+/?$",
    "json-pointer": r"^(/[A-Za-z0-9._-]*)*$",
    "relative-json-pointer": r"^(0|[1-9][0-9]{0,8})(/[A-Za-z0-9._-]*)*$",
    "regex": r"^[A-Za-z0-9 _-]*$",
    "idn-hostname": r"^[a-z][a-z0-9]{0,30}(\.[a-z][a-z0-9]{1,30})*$",
    "idn-email": r"^[a-z][a-z0-9]{0,30}@[a-z][a-z0-9]{1,30}\.[a-z]{2,20}$",
}
_STEPS: Final = frozenset({"properties", "items", "additionalProperties"})


def closed(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Close an object that has properties; declare those that it requires."""
    declared = read_properties(schema)
    additional = schema.get("additionalProperties", True)
    missing = [str(name) for name in read_required(schema) if name not in declared]
    if not (declared or missing) or additional is False:
        return schema
    properties: SchemaObject = {**declared, **dict.fromkeys(missing, additional)}
    return without_refused(
        {
            **schema,
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
    )


def without_patterns(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Forbid the properties that `patternProperties` is about."""
    patterns, properties = schema.get("patternProperties"), read_properties(schema)
    if not isinstance(patterns, dict) or not properties:
        return schema
    narrowed = dict(properties)
    for pattern, part in patterns.items():
        is_match = Schema({"pattern": pattern}, DIALECT).validator.is_valid
        for name in filter(is_match, properties):
            narrowed[name] = {"allOf": [narrowed[name], part]}
    remaining = without(schema, "patternProperties")
    return {**remaining, "properties": narrowed, "additionalProperties": False}


def emptied(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Close an object of which no property is known."""
    if schema.get("additionalProperties") is False or read_properties(schema):
        return schema
    remaining = without(schema, "patternProperties", "propertyNames")
    return {
        **remaining,
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def scalars(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Let a schema of any value be one of strings, numbers, booleans and null."""

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if tokens not in sites.keywords or part is False:
            return part
        about = part if isinstance(part, dict) else {}
        if asserting(about):
            return part
        return {"type": list(SCALARS), **about}

    return edited(schema, DIALECT, change)


def with_type(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Name the type that the keywords of a schema are about, or that of its values."""
    kinds = [TYPE_OF_KEYWORD[name] for name in _MARKS if name in schema]
    values = {json_type(value) for value in read_array(schema, "enum")}
    names = [*values] if len(values) == 1 else [*kinds]
    return {"type": names[0], **schema} if names and "type" not in schema else schema


def format_as_pattern(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Write a format as a pattern that only texts of the format match."""
    name = schema.get("format")
    if not isinstance(name, str) or name not in _PATTERNS or "pattern" in schema:
        return schema
    return {**without(schema, "format"), "pattern": _PATTERNS[name]}


def optional_dropped(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid the optional properties beyond a number, the innermost first."""
    optional = [
        (*location.tokens, "properties", name)
        for location in walk(schema, DIALECT)
        for name in read_properties(location.keywords)
        if name not in read_required(location.keywords)
    ]
    return cut(schema, sorted(optional, key=len)[sites.limit :])


def cut_at_recursion(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid values in which a schema stands inside itself."""
    return cut(schema, list(sites.keywords))


def cut_at_depth(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid values that nest deeper than a number of levels."""
    levels: dict[Tokens, int] = {}
    deep = []
    for location in walk(schema, DIALECT):
        tokens = location.tokens
        around = tokens[:-1] if tokens[:-1] in levels else tokens[:-2]
        is_step = not _STEPS.isdisjoint(tokens[len(around) : len(around) + 1])
        levels[tokens] = levels.get(around, 0) + is_step
        if levels[tokens] >= sites.limit and (
            {"properties", "items"} & location.keywords.keys()
        ):
            deep.append(tokens)
    return cut(schema, deep)


def cut(schema: UntypedJson, places: list[Tokens]) -> UntypedJson:
    """Return a schema that accepts no value for the parts at some places.

    The same schema if it would accept nothing at all.
    """
    forbidden = set(places)

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        return False if tokens in forbidden else without_false(part, narrowing=True)

    result = edited(schema, DIALECT, change)
    return schema if result is False else result


def without_false(schema: UntypedJson, *, narrowing: bool = False) -> UntypedJson:
    """Return a schema without the parts that accept nothing, or false if all do.

    Args:
        schema: A schema whose subschemas were looked at before.
        narrowing: Return false also where nothing is left but the empty array, or
            values of other types than that about which it speaks.
    """
    if not isinstance(schema, dict):
        return schema
    refused = {name for name, part in read_properties(schema).items() if part is False}
    if refused & {*read_required(schema)} and (
        narrowing or schema.get("type") == "object"
    ):
        return False
    if narrowing and schema.get("items") is False and not schema.get("prefixItems"):
        return False
    schema = without_refused(schema)
    branches = schema.get("anyOf")
    if isinstance(branches, list) and False in branches:
        schema = {
            **schema,
            "anyOf": [branch for branch in branches if branch is not False],
        }
    return False if schema.get("anyOf") == [] else schema


def without_refused(schema: SchemaObject) -> SchemaObject:
    """Return a closed object without the optional properties that it refuses anyway.

    Not where a pattern would allow them.
    """
    properties, required = read_properties(schema), read_required(schema)
    refused = [
        name
        for name, part in properties.items()
        if part is False and name not in required
    ]
    is_open = schema.get("additionalProperties") is not False
    if not refused or is_open or schema.get("patternProperties"):
        return schema
    return {**schema, "properties": without(properties, *refused)}
