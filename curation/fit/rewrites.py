"""The named rewrites: what each changes in a schema so that a target takes it.

A rewrite is asked for by findings (`curation.fit.verdict`), edits a marked schema
(`curation.fit.shapes`) in 2020-12, and claims how the values that are meant change. The
claim holds wherever a schema stands in a *monotone* position: in one where fewer values
of the part never mean more values of the whole (`curation.fit.positions`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.fit.shapes import Shape, shape_of, with_shape
from curation.instances.constraints.keyword_values import KNOWN_FORMATS
from curation.json.pointer import Tokens, at
from curation.schema.dialects import DRAFT_2020_12
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    TYPE_OF_KEYWORD,
)
from curation.schema.subschemas import edited, subschema_locations

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_Object: TypeAlias = "dict[str, UntypedJson]"
_Names: TypeAlias = frozenset[str]
_DIALECT: Final = DRAFT_2020_12
#: Any value that is neither an array nor an object.
SCALARS: Final[tuple[str, ...]] = ("string", "number", "boolean", "null")
_ASSERTING: Final = KNOWN_KEYWORDS - (ANNOTATIONS - {"format"}) - CONTAINERS - {"$id"}


class Claim(StrEnum):
    """How the values that are meant change by a rewrite."""

    EQUAL = "equal"
    """Not at all."""
    NARROWER = "narrower"
    """Some can no longer be said; what is said is valid by the schema before."""
    WIDER = "wider"
    """Answers must be validated afterwards."""
    DIFFERS = "differs"
    """Some can no longer be said, and answers must be validated afterwards."""
    UNKNOWN = "unknown"
    """Neither proof nor value decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sites:
    """Where a rewrite is asked for."""

    #: Tokens of the schema objects, each with the keywords of the findings there.
    keywords: Mapping[Tokens, frozenset[str]]
    #: The limit that is exceeded, if it is one.
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """One named way to make a schema fit."""

    name: str
    #: What it does, in one sentence for people.
    sentence: str
    claim: Claim
    #: The checks whose findings ask for it.
    rules: frozenset[str]
    #: The keywords of those findings; all where there are none.
    keywords: frozenset[str] = frozenset()
    apply: Callable[[UntypedJson, Sites], UntypedJson]
    #: Whether it gives answers another shape, which is right only where no other
    #: schema speaks of the same value.
    shapes: bool = False
    #: Whether it counts only where it is proven to change nothing.
    exact: bool = False
    #: Whether it may edit any place, and not only those of the findings.
    everywhere: bool = False

    def answers(self, rule: str, keyword: str) -> bool:
        """Return whether a finding asks for this rewrite."""
        of_keyword = not self.keywords or keyword in self.keywords
        return rule in self.rules and of_keyword


#: From a schema object and the keywords of its findings to what shall stand there; the
#: same object where the rewrite does not apply.
_EditObject = Callable[["_Object", "_Names"], "UntypedJson"]


def _at_sites(edit: _EditObject) -> Callable[[UntypedJson, Sites], UntypedJson]:
    def apply(schema: UntypedJson, sites: Sites) -> UntypedJson:
        def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
            if tokens not in sites.keywords or not isinstance(part, dict):
                return part
            return edit(part, sites.keywords[tokens])

        return edited(schema, _DIALECT, change)

    return apply


def _without(schema: Mapping[str, UntypedJson], *names: str) -> _Object:
    return {name: value for name, value in schema.items() if name not in names}


def asserting(schema: Mapping[str, UntypedJson]) -> frozenset[str]:
    """Return the keywords of a schema that may refuse something."""
    return frozenset(schema.keys() & _ASSERTING)


def _names(schema: Mapping[str, UntypedJson]) -> list[str]:
    required = schema.get("required")
    return list(required) if isinstance(required, list) else []


def _properties(schema: Mapping[str, UntypedJson]) -> _Object:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


# equal


def any_of(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Write `oneOf` as `anyOf`: equal where its branches exclude each other."""
    if "oneOf" not in schema or "anyOf" in schema:
        return schema
    return {
        "anyOf" if name == "oneOf" else name: value for name, value in schema.items()
    }


def without(schema: _Object, keywords: _Names) -> UntypedJson:
    """Take out keywords: equal where something else implies them."""
    kept = _without(schema, *keywords)
    return kept if len(kept) < len(schema) else schema


def without_unknown_format(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Take out a format that no validator asserts."""
    if schema.get("format") in KNOWN_FORMATS:
        return schema
    return _without(schema, "format")


def without_idle(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Take out keywords about other types than the only one of a schema."""
    kind = schema.get("type")
    own = "number" if kind == "integer" else kind
    idle = [it for it in schema if TYPE_OF_KEYWORD.get(it, own) != own]
    return _without(schema, *idle) if idle and isinstance(kind, str) else schema


def unnamed(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Take out identifiers and anchors that no reference uses."""
    references = [
        place.keywords["$ref"]
        for place in subschema_locations(schema, _DIALECT)
        if "$ref" in place.keywords
    ]
    if not all(str(reference).startswith("#/") for reference in references):
        return schema

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        names = ("$id", "id", "$anchor")
        return _without(part, *names) if isinstance(part, dict) else part

    return edited(schema, _DIALECT, change)


def const_as_enum(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Write `const` as an `enum` of one."""
    if "const" not in schema or "enum" in schema:
        return schema
    return {**_without(schema, "const"), "enum": [schema["const"]]}


def length_as_pattern(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Write the limits of a string's length as a pattern."""
    if schema.get("type") != "string" or "pattern" in schema:
        return schema
    least, most = schema.get("minLength", 0), schema.get("maxLength", "")
    pattern = rf"^[\s\S]{{{least},{most}}}$"
    return {**_without(schema, "minLength", "maxLength"), "pattern": pattern}


#: Most members of a range of integers that is written out.
_RANGE: Final = 64


def range_as_enum(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Write a small range of integers as an `enum`."""
    if schema.get("type") != "integer" or "enum" in schema or "multipleOf" in schema:
        return schema
    first = _limit(schema, "minimum", "exclusiveMinimum", 1)
    last = _limit(schema, "maximum", "exclusiveMaximum", -1)
    if first is None or last is None or not 0 <= last - first < _RANGE:
        return schema
    return {**_without(schema, *_BOUNDS), "enum": list(range(first, last + 1))}


def _limit(schema: _Object, name: str, exclusive: str, step: int) -> int | None:
    """Return the limit of integers that one of two keywords says, if it is whole."""
    if (name in schema) == (exclusive in schema):
        return None
    value = schema.get(name, schema.get(exclusive))
    if not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value) + (0 if name in schema else step)


_BOUNDS: Final = frozenset(
    {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}
)


def root_inlined(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Put what the root's reference leads to at the root."""
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target = at(schema, tuple(reference[2:].split("/")))
    if not isinstance(target, dict) or asserting(schema) != {"$ref"}:
        return schema
    return {**target, **_without(schema, "$ref")}


# narrower


def closed(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Close an object that has properties; declare those that it requires."""
    declared = _properties(schema)
    rest = schema.get("additionalProperties", True)
    missing = [name for name in _names(schema) if name not in declared]
    if not (declared or missing) or rest is False:
        return schema
    properties = {**declared, **dict.fromkeys(missing, rest)}
    return {
        **schema,
        "type": "object",
        "properties": {
            name: part
            for name, part in properties.items()
            if part is not False or name in _names(schema)
        },
        "additionalProperties": False,
    }


def declared(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Declare the properties that an open object requires."""
    rest = schema.get("additionalProperties", True)
    known = _properties(schema)
    missing = [name for name in _names(schema) if name not in known]
    if not missing or rest is False or "patternProperties" in schema:
        return schema
    return {**schema, "properties": {**known, **dict.fromkeys(missing, rest)}}


def without_patterns(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Forbid the properties that `patternProperties` is about."""
    patterns, properties = schema.get("patternProperties"), _properties(schema)
    if not isinstance(patterns, dict) or not properties:
        return schema
    narrowed = dict(properties)
    for pattern, part in patterns.items():
        try:
            matching = [name for name in properties if re.search(pattern, name)]
        except re.error:
            return schema
        for name in matching:
            narrowed[name] = {"allOf": [narrowed[name], part]}
    kept = _without(schema, "patternProperties")
    return {**kept, "properties": narrowed, "additionalProperties": False}


def of_scalars(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Let a schema of any value be one of strings, numbers, booleans and null."""

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if tokens not in sites.keywords or part is False:
            return part
        about = part if isinstance(part, dict) else {}
        if asserting(about):
            return part
        return {"type": list(SCALARS), **about}

    return edited(schema, _DIALECT, change)


def with_type(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Name the type that the keywords of a schema are about."""
    for kind, marks in _MARKS.items():
        if "type" not in schema and not marks.isdisjoint(schema):
            return {"type": kind, **schema}
    return schema


_MARKS: Final[Mapping[str, frozenset[str]]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
    "number": frozenset({*_BOUNDS, "multipleOf"}),
}


def items_of_scalars(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Let the elements of an array be scalars where nothing is said of them."""
    if "items" in schema and schema["items"] is not True:
        return schema
    return {**schema, "items": {"type": list(SCALARS)}}


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


def format_as_pattern(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Write a format as a pattern that only texts of the format match."""
    name = schema.get("format")
    if not isinstance(name, str) or name not in _PATTERNS or "pattern" in schema:
        return schema
    return {**_without(schema, "format"), "pattern": _PATTERNS[name]}


def with_required(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Require as many properties as an object must have at least."""
    least, required = schema.get("minProperties"), _names(schema)
    if not isinstance(least, int):
        return schema
    others = [name for name in _properties(schema) if name not in required]
    names = [*required, *others[: max(0, least - len(required))]]
    if len(names) < least:
        return schema
    return {**_without(schema, "minProperties"), "required": names}


def fewer_values(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Keep the values of an `enum` that are scalars."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return schema
    kept = [value for value in values if not isinstance(value, dict | list)]
    return {**schema, "enum": kept} if 0 < len(kept) < len(values) else schema


def shorter_enums(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Keep the first values of the longest `enum`s."""
    enums = [
        len(values)
        for place in subschema_locations(schema, _DIALECT)
        if isinstance(values := place.keywords.get("enum"), list)
    ]
    most = max(1, (sites.most or sum(enums) // 2) // max(1, len(enums)))

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        values = part.get("enum") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(values, list):
            return part
        return part if len(values) <= most else {**part, "enum": values[:most]}

    return edited(schema, _DIALECT, change)


def first_branches(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Keep the first of several types or branches, the innermost places first."""
    places = [
        place.tokens
        for place in subschema_locations(schema, _DIALECT)
        if isinstance(place.keywords.get("type"), list) or "anyOf" in place.keywords
    ]
    many = frozenset(sorted(places, key=len)[sites.most :])

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if tokens not in many or not isinstance(part, dict):
            return part
        kind = part.get("type")
        if isinstance(kind, list):
            part = {**part, "type": next((it for it in kind if it != "null"), "null")}
        branches = part.get("anyOf")
        if isinstance(branches, list) and isinstance(branches[0], dict):
            inner = _without(part, "anyOf")
            if not asserting(inner):
                return {**inner, **branches[0]}
        return part

    return edited(schema, _DIALECT, change)


def optional_dropped(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid the optional properties beyond a number, the innermost first."""
    optional = [
        (*place.tokens, "properties", name)
        for place in subschema_locations(schema, _DIALECT)
        for name in _properties(place.keywords)
        if name not in _names(place.keywords)
    ]
    return cut(schema, sorted(optional, key=len)[sites.most :])


def cut_at_recursion(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid values in which a schema stands inside itself."""
    return cut(schema, list(sites.keywords))


_STEPS: Final = frozenset({"properties", "items", "additionalProperties"})


def cut_at_depth(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Forbid values that nest deeper than a number of levels."""
    deep = [
        place.tokens
        for place in subschema_locations(schema, _DIALECT)
        if sum(token in _STEPS for token in place.tokens) >= sites.most
        and ({"properties", "items"} & place.keywords.keys())
    ]
    return cut(schema, deep)


def cut(schema: UntypedJson, places: list[Tokens]) -> UntypedJson:
    """Return a schema that accepts no value for the parts at some places.

    The same schema if it would accept nothing at all.
    """
    forbidden = set(places)

    def change(tokens: Tokens, part: UntypedJson) -> UntypedJson:
        return False if tokens in forbidden else _without_false(part)

    result = edited(schema, _DIALECT, change)
    return schema if result is False else result


def _without_false(schema: UntypedJson) -> UntypedJson:
    """Return a schema without the parts that accept nothing, or false."""
    if not isinstance(schema, dict):
        return schema
    properties = _properties(schema)
    empty = {name for name, part in properties.items() if part is False}
    if empty & {*_names(schema)} or schema.get("items") is False:
        return False
    if empty and schema.get("additionalProperties") is False:
        kept = {name: part for name, part in properties.items() if name not in empty}
        schema = {**schema, "properties": kept}
    branches = schema.get("anyOf")
    if isinstance(branches, list) and False in branches:
        schema = {**schema, "anyOf": [it for it in branches if it is not False]}
    return False if schema.get("anyOf") == [] else schema


def tidied(schema: UntypedJson) -> UntypedJson:
    """Return a canonical form in the keywords that people write: closed objects."""

    def change(_tokens: Tokens, part: UntypedJson) -> UntypedJson:
        if not isinstance(part, dict) or part.get("type") != "object":
            return _without_false(part) if isinstance(part, dict) else part
        names = part.get("propertyNames")
        values = _enumerated(names)
        if values is not None:
            known = _properties(part)
            rest = part.get("additionalProperties", True)
            members = {**known, **{it: rest for it in values if it not in known}}
            part = {
                **_without(part, "propertyNames"),
                "properties": members,
                "additionalProperties": False,
            }
        patterns = part.get("patternProperties")
        pattern = names.get("pattern") if isinstance(names, dict) else None
        if patterns and [*patterns] == [pattern] and not _properties(part):
            part = {
                **_without(part, "patternProperties"),
                "additionalProperties": patterns[pattern],
            }
        return _without_false(part)

    result = edited(schema, _DIALECT, change)
    return schema if result is False else result


def _enumerated(names: UntypedJson) -> list[str] | None:
    """Return the names that a schema of names enumerates, or None."""
    if not isinstance(names, dict) or names.keys() - {"type"} not in (
        {"enum"},
        {"const"},
    ):
        return None
    values = names["enum"] if "enum" in names else [names["const"]]
    return [value for value in values if isinstance(value, str)]


def annotated(schema: UntypedJson, like: UntypedJson) -> UntypedJson:
    """Return a schema with the titles and descriptions of one of the same shape."""
    if not isinstance(schema, dict) or not isinstance(like, dict):
        return schema
    about = {name: like[name] for name in ("title", "description") if name in like}
    result = {**about, **schema}
    if isinstance(schema.get("items"), dict):
        result["items"] = annotated(schema["items"], like.get("items"))
    for holder in ("properties", *CONTAINERS):
        parts, others = schema.get(holder), like.get(holder)
        if isinstance(parts, dict) and isinstance(others, dict):
            result[holder] = {
                name: annotated(part, others.get(name)) for name, part in parts.items()
            }
    return result


# other shapes


def nullable(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Ask for null where an optional property is absent; it cannot be null itself."""
    properties = _properties(schema)
    optional = [name for name in properties if name not in _names(schema)]
    if not optional or schema.get("type") != "object" or "$ref" in schema:
        return schema
    if not asserting(schema) <= _OF_OBJECTS:
        return schema
    parts = {name: _without_null(properties[name]) for name in optional}
    asked = tuple(name for name in optional if parts[name] is not None)
    required = [name for name in properties if name not in asked]
    result: _Object = {
        **schema,
        "properties": {**properties, **{name: parts[name] for name in asked}},
    }
    if required:
        result["required"] = required
    if not asked:
        return result
    return with_shape(result, msgspec.structs.replace(shape_of(schema), nullable=asked))


_OF_OBJECTS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties"}
)


def _without_null(schema: UntypedJson) -> UntypedJson | None:
    """Return a schema of the values that are not null; None if that is not plain."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    if isinstance(kind, str):
        return None if kind == "null" else schema
    if isinstance(kind, list):
        kinds = [name for name in kind if name != "null"]
        if not kinds:
            return None
        rest = {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
        if isinstance(schema.get("enum"), list):
            rest["enum"] = [value for value in schema["enum"] if value is not None]
        return rest
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        kept = [value for value in values if value is not None]
        if len(kept) == len(values):
            return schema
        return {**schema, "enum": kept} if kept and "enum" in schema else None
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        kept = [part for it in branches if (part := _without_null(it)) is not None]
        dropped = [it for it in branches if _without_null(it) is None]
        if kept and all(it == {"type": "null"} for it in dropped):
            return {**schema, "anyOf": kept}
    return None


def pairs(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Ask for a map as an array of objects with key and value."""
    allowed = _OF_OBJECTS | {"patternProperties", "propertyNames", "minProperties"}
    if _properties(schema) or _names(schema) or not asserting(schema) <= allowed:
        return schema
    if schema.get("type") != "object" or schema.get("minProperties", 0) not in (0, 1):
        return schema
    if shape_of(schema).pairs:
        return schema
    rest = schema.get("additionalProperties", True)
    patterns = schema.get("patternProperties") or {}
    names = schema.get("propertyNames", {})
    if patterns:
        if len(patterns) > 1 or "propertyNames" in schema:
            return schema
        (pattern, rest), names = next(iter(patterns.items())), {}
        names = {"pattern": pattern}
    if not isinstance(names, dict) or names.keys() - {"type"} - _OF_NAMES or not rest:
        return schema
    return with_shape(
        {
            **_without(schema, "patternProperties", "required", "properties"),
            **({"propertyNames": names} if names else {}),
            "additionalProperties": {"type": list(SCALARS)}
            if rest is True or rest == {}
            else rest,
        },
        Shape(pairs=True),
    )


_OF_NAMES: Final = frozenset(
    {"pattern", "enum", "const", "minLength", "maxLength", "format"}
)


def members(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Ask for the leading elements of an array as members of an object."""
    prefix = schema.get("prefixItems")
    leading = len(prefix) if isinstance(prefix, list) else 0
    least = schema.get("minItems", 0)
    most = schema.get("maxItems")
    if schema.get("type") != "array" or not isinstance(least, int):
        return schema
    count = max(leading, least)
    if (
        not 0 < count <= _RANGE
        or asserting(schema) - _OF_ARRAYS
        or shape_of(schema).items
    ):
        return schema
    rest = schema.get("items", True)
    if isinstance(most, int) and most < count:
        return schema
    more = rest is not False and most != count and not (leading and rest is True)
    result = {**schema, "minItems": count}
    if not more:
        result["maxItems"] = count
    return with_shape(result, Shape(items=count, more=more))


_OF_ARRAYS: Final = frozenset({"type", "items", "prefixItems", "minItems", "maxItems"})


def distinct(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Drop repeated elements from answers, as `uniqueItems` asks."""
    if schema.get("minItems", 0) not in (0, 1) or asserting(schema) - _OF_ARRAYS - {
        "uniqueItems"
    }:
        return schema
    if shape_of(schema).items or schema.get("uniqueItems") is not True:
        return schema
    shape = msgspec.structs.replace(shape_of(schema), distinct=True)
    return with_shape(schema, shape)


def shortened_array(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Cut arrays in answers at their `maxItems`."""
    most = schema.get("maxItems")
    if not isinstance(most, int) or asserting(schema) - _OF_ARRAYS - {"uniqueItems"}:
        return schema
    if most < 1 or most < schema.get("minItems", 0):
        return schema
    return with_shape(schema, msgspec.structs.replace(shape_of(schema), cut=True))


def wrapped(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Ask for the value as the member of an object."""
    if not isinstance(schema, dict) or shape_of(schema).wrapped:
        return schema
    return with_shape(schema, msgspec.structs.replace(shape_of(schema), wrapped=True))


# wider


def dropped(schema: _Object, keywords: _Names) -> UntypedJson:
    """Say in the description what the target does not hold."""
    taken = {name: schema[name] for name in keywords if name in schema}
    if not taken:
        return schema
    shape = shape_of(schema)
    return with_shape(
        _without(schema, *taken),
        msgspec.structs.replace(shape, dropped={**shape.dropped, **taken}),
    )


def emptied(schema: _Object, _keywords: _Names) -> UntypedJson:
    """Close an object of which no property is known."""
    if schema.get("additionalProperties") is False or _properties(schema):
        return schema
    kept = _without(schema, "patternProperties", "propertyNames")
    return {**kept, "type": "object", "properties": {}, "additionalProperties": False}


def _named(  # noqa: PLR0913, PLR0917 - the fields of a rewrite
    name: str,
    sentence: str,
    claim: Claim,
    apply: Callable[[UntypedJson, Sites], UntypedJson],
    rules: str,
    keywords: str = "",
    **flags: bool,
) -> Rewrite:
    return Rewrite(
        name=name,
        sentence=sentence,
        claim=claim,
        apply=apply,
        rules=frozenset(rules.split()),
        keywords=frozenset(keywords.split()),
        **flags,
    )


#: Keywords that change what others mean: without one of them the rest may refuse more.
COUPLED: Final = frozenset(
    {
        *("properties", "patternProperties", "prefixItems", "items", "if", "contains"),
        *("minContains", "additionalItems", "type", "$ref", "$id", "$anchor"),
    }
)
#: Rewrites that count only where they are proven equal, in the order of trial.
EXACT: Final = (
    _named(
        "one-of-as-any-of",
        "`oneOf` is written as `anyOf`: no value has two branches",
        Claim.WIDER,
        _at_sites(any_of),
        "keyword",
        "oneOf",
        exact=True,
    ),
    _named(
        "implied-keyword-dropped",
        "a keyword is dropped that refuses nothing more",
        Claim.WIDER,
        _at_sites(without),
        "keyword format beside-reference",
        exact=True,
    ),
)
#: Placeholder of the rewrite that the algebra makes (`curation.fit.rewriting`).
NORMALISED: Final = _named(
    "normalised",
    "the schema is written in its canonical form",
    Claim.EQUAL,
    lambda schema, _sites: schema,
    "keyword beside-reference nested-identifier remote-reference reference-in "
    "dangling-reference undeclared-property open-object",
    "allOf oneOf not if then else dependentRequired dependentSchemas dependencies "
    "unevaluatedProperties unevaluatedItems propertyNames $ref $id $anchor required "
    "$dynamicRef $dynamicAnchor $recursiveRef minProperties maxProperties description "
    "title properties type additionalProperties default definitions $defs",
)
#: Safe rewrites, in the order of trial.
SAFE: Final = (
    _named(
        "idle-dropped",
        "keywords are dropped that are about another type",
        Claim.EQUAL,
        _at_sites(without_idle),
        "keyword optional-property open-object array-without-items tuple format "
        "pattern undeclared-property",
    ),
    _named(
        "root-inlined",
        "what the root refers to stands at the root",
        Claim.EQUAL,
        root_inlined,
        "root-type root-keyword",
    ),
    _named(
        "unknown-format-dropped",
        "a format is dropped that no draft defines",
        Claim.EQUAL,
        _at_sites(without_unknown_format),
        "format",
    ),
    _named(
        "unnamed",
        "identifiers and anchors are dropped that no reference uses",
        Claim.EQUAL,
        unnamed,
        "keyword nested-identifier remote-reference",
        "$anchor $id",
        everywhere=True,
    ),
    _named(
        "const-as-enum",
        "`const` is written as `enum`",
        Claim.EQUAL,
        _at_sites(const_as_enum),
        "keyword",
        "const",
    ),
    _named(
        "length-as-pattern",
        "the length of a string is written as a pattern",
        Claim.EQUAL,
        _at_sites(length_as_pattern),
        "keyword",
        "minLength maxLength",
    ),
    _named(
        "range-as-enum",
        "a small range of integers is written as `enum`",
        Claim.EQUAL,
        _at_sites(range_as_enum),
        "keyword",
        " ".join(_BOUNDS),
    ),
    NORMALISED,
    _named(
        "distinct",
        "repeated elements of arrays are dropped from answers",
        Claim.EQUAL,
        _at_sites(distinct),
        "keyword",
        "uniqueItems",
        shapes=True,
    ),
    _named(
        "shortened",
        "arrays in answers are cut at their `maxItems`",
        Claim.EQUAL,
        _at_sites(shortened_array),
        "keyword",
        "maxItems",
        shapes=True,
    ),
    _named(
        "with-type",
        "a schema names the type that it is about",
        Claim.NARROWER,
        _at_sites(with_type),
        "untyped open-object root-type array-without-items",
    ),
    _named(
        "members",
        "the leading elements of an array are members of an object",
        Claim.NARROWER,
        _at_sites(members),
        "tuple array-without-items keyword",
        "prefixItems minItems items additionalItems",
        shapes=True,
    ),
    _named(
        "pairs",
        "a map is an array of objects with key and value",
        Claim.NARROWER,
        _at_sites(pairs),
        "open-object keyword",
        "patternProperties propertyNames additionalProperties",
        shapes=True,
    ),
    _named(
        "declared",
        "properties that are required are declared",
        Claim.EQUAL,
        _at_sites(declared),
        "undeclared-property",
    ),
    _named(
        "without-patterns",
        "the properties of `patternProperties` are forbidden",
        Claim.NARROWER,
        _at_sites(without_patterns),
        "keyword",
        "patternProperties",
    ),
    _named(
        "closed",
        "objects have no properties but those that are declared",
        Claim.NARROWER,
        _at_sites(closed),
        "open-object undeclared-property",
    ),
    _named(
        "with-required",
        "as many properties are required as there must be",
        Claim.NARROWER,
        _at_sites(with_required),
        "keyword",
        "minProperties",
    ),
    _named(
        "scalars",
        "what may be anything is a string, a number, a boolean or null",
        Claim.NARROWER,
        of_scalars,
        "boolean-schema untyped",
    ),
    _named(
        "items-of-scalars",
        "elements of which nothing is said are no arrays or objects",
        Claim.NARROWER,
        _at_sites(items_of_scalars),
        "array-without-items",
    ),
    _named(
        "format-as-pattern",
        "a format is a pattern that only its texts match",
        Claim.NARROWER,
        _at_sites(format_as_pattern),
        "format",
    ),
    _named(
        "scalar-values",
        "arrays and objects are taken out of `enum`",
        Claim.NARROWER,
        _at_sites(fewer_values),
        "enum-type",
    ),
    _named(
        "cut-at-recursion",
        "no value nests in itself",
        Claim.NARROWER,
        cut_at_recursion,
        "recursive-reference required-recursion",
    ),
    _named(
        "optional-dropped",
        "optional properties over the limit are forbidden",
        Claim.NARROWER,
        optional_dropped,
        "optional-properties",
        everywhere=True,
    ),
    _named(
        "first-branches",
        "of unions over the limit the first branch is kept",
        Claim.NARROWER,
        first_branches,
        "unions",
        everywhere=True,
    ),
    _named(
        "cut-at-depth",
        "values deeper than the limit are forbidden",
        Claim.NARROWER,
        cut_at_depth,
        "depth",
        everywhere=True,
    ),
    _named(
        "shorter-enums",
        "the first values of long `enum`s are kept",
        Claim.NARROWER,
        shorter_enums,
        "enum-values long-enum characters",
        everywhere=True,
    ),
    _named(
        "nullable",
        "optional properties are required, and null where they are absent",
        Claim.NARROWER,
        _at_sites(nullable),
        "optional-property",
        shapes=True,
    ),
    _named(
        "emptied",
        "objects of which no property is known have none",
        Claim.NARROWER,
        _at_sites(emptied),
        "open-object",
    ),
    _named(
        "wrapped",
        "the value is the member of an object",
        Claim.EQUAL,
        wrapped,
        "root-type root-keyword",
        shapes=True,
    ),
)
#: Rewrites after which answers have to be validated.
UNSAFE: Final = (
    _named(
        "idle-dropped",
        "keywords are dropped that are about another type",
        Claim.EQUAL,
        _at_sites(without_idle),
        "keyword optional-property open-object array-without-items tuple format "
        "pattern undeclared-property",
    ),
    replace(EXACT[0], exact=False),
    _named(
        "dropped",
        "a keyword is dropped and said in the description",
        Claim.WIDER,
        _at_sites(dropped),
        "keyword format pattern enum-type beside-reference tuple boolean-schema",
    ),
)
