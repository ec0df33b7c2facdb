"""Members of a value that its schema does not declare, where it lets them pass.

A schema without `additionalProperties: false` accepts members that it says nothing of.
A member is declared if a subschema that applies to its object names it in
`properties` or matches it in `patternProperties`, or if the object is open by its own
word: `additionalProperties` or `unevaluatedProperties` that are given and not false.
An object for which no member is declared at all is free-form: all its members are
as good as declared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.instances.constraints.keyword_values import array_of, object_of
from curation.instances.judging.ecma_keywords import is_match
from curation.json.pointer import pointer
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.json.pointer import Tokens
    from curation.schema.subschemas import SchemaLocation


def undeclared_members(compiled: CompiledSchema, value: Json) -> tuple[str, ...]:
    """Return the JSON pointers of the members that nothing declares, in order.

    Args:
        compiled: The schema, which accepts the value.
        value: The value.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"properties": {"a": {"properties": {"b": True}}}}
        >>> compiled = CompiledSchema.from_json(schema, "2020-12")
        >>> undeclared_members(compiled, {"a": {"b": 1, "c": 2}, "d": 3})
        ('/a/c', '/d')
    """
    return tuple(pointer(tokens) for tokens in _walk(compiled, [compiled.root], value))


@dataclass(slots=True)
class _Declarations:
    """What the subschemas that apply to one object say of its members."""

    #: Name of a member to the schemas that apply to its value.
    by_name: dict[str, list[SchemaLocation]] = field(default_factory=dict)
    #: Whether the object is open by its own word.
    is_open: bool = False
    #: Whether any member is declared at all.
    any_declared: bool = False


def _walk(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> Iterator[Tokens]:
    """Yield the tokens of undeclared members, in the order of the value."""
    if isinstance(value, dict):
        applying = _applying(compiled, locations, value)
        found = _declarations(compiled, applying, value)
        for name, member in value.items():
            schemas = found.by_name.get(name)
            if schemas is None:
                if found.any_declared and not found.is_open:
                    yield (name,)
                continue
            for tokens in _walk(compiled, schemas, member):
                yield (name, *tokens)
    elif isinstance(value, list):
        applying = _applying(compiled, locations, value)
        for index, item in enumerate(value):
            inner = [
                location
                for applied in applying
                for location in _item_schemas(compiled, applied, index)
            ]
            for tokens in _walk(compiled, inner, item):
                yield (str(index), *tokens)


def _applying(
    compiled: CompiledSchema, locations: Sequence[SchemaLocation], value: Json
) -> list[SchemaLocation]:
    """Return all subschemas that apply to a value in place, each once.

    References are followed; of `anyOf` and `oneOf` the branches that accept the value
    apply, of `if` the part that its condition chooses.
    """
    found: dict[SchemaLocation, None] = {}
    waiting = list(reversed(locations))
    while waiting:
        location = waiting.pop()
        if location in found:
            continue
        found[location] = None
        waiting += reversed(list(_in_place(compiled, location, value)))
    return list(found)


def _in_place(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.keywords
    for keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword) if keyword in keywords else None
        if target is not None:
            yield target
    if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
        return
    yield from _combined(compiled, location, value)
    yield from _conditional(compiled, location, value)


def _combined(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.keywords
    for index in range(len(array_of(keywords, "allOf"))):
        yield compiled.child(location, ("allOf", str(index)))
    for keyword in ("anyOf", "oneOf"):
        for index in range(len(array_of(keywords, keyword))):
            branch = compiled.child(location, (keyword, str(index)))
            if compiled.accepts(branch, value):
                yield branch


def _conditional(
    compiled: CompiledSchema, location: SchemaLocation, value: Json
) -> Iterator[SchemaLocation]:
    keywords = location.keywords
    if "if" in keywords:
        condition = compiled.child(location, ("if",))
        holds = compiled.accepts(condition, value)
        if holds:
            yield condition
        chosen = "then" if holds else "else"
        if chosen in keywords:
            yield compiled.child(location, (chosen,))
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, schema in object_of(keywords, keyword).items():
                if name in value and isinstance(schema, dict | bool):
                    yield compiled.child(location, (keyword, name))


def _declarations(
    compiled: CompiledSchema,
    applying: Sequence[SchemaLocation],
    value: dict[str, Json],
) -> _Declarations:
    found = _Declarations()
    for location in applying:
        keywords = location.keywords
        if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
            continue
        properties = object_of(keywords, "properties")
        patterns = object_of(keywords, "patternProperties")
        found.any_declared |= bool(properties or patterns)
        rest = [
            keyword
            for keyword in ("additionalProperties", "unevaluatedProperties")
            if keyword in keywords and keywords[keyword] is not False
        ]
        found.is_open |= bool(rest)
        for name in value:
            places: list[Tokens] = []
            if name in properties:
                places.append(("properties", name))
            places += [
                ("patternProperties", pattern)
                for pattern in patterns
                if is_match(pattern, name)
            ]
            places = places or [(keyword,) for keyword in rest]
            for place in places:
                schema = compiled.child(location, place)
                found.by_name.setdefault(name, []).append(schema)
    return found


def _item_schemas(
    compiled: CompiledSchema, location: SchemaLocation, index: int
) -> Iterator[SchemaLocation]:
    """Yield the schemas that apply to the item at an index."""
    keywords = location.keywords
    if "$ref" in keywords and compiled.dialect.ref_hides_siblings:
        return
    for keyword, rest in (("prefixItems", "items"), ("items", "additionalItems")):
        listed = keywords.get(keyword)
        if isinstance(listed, list):
            if index < len(listed):
                yield compiled.child(location, (keyword, str(index)))
            elif isinstance(keywords.get(rest), dict):
                yield compiled.child(location, (rest,))
            return
    if isinstance(keywords.get("items"), dict):
        yield compiled.child(location, ("items",))
