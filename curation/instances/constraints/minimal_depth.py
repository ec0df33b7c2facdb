"""Least nesting of a value of a schema; infinite if it never ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.core.json_types import Json
from curation.instances.constraints.keyword_values import (
    item_keywords,
    names_of,
    object_of,
)
from curation.json.values import is_number

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation

#: Keywords without effect on other types than this one.
_HINTS: Final = {"required": "object", "minItems": "array"}
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


class _Alternatives(NamedTuple):
    """Schemas of which a value needs one."""

    #: Levels of the instance between the value and what meets the schema: 0 or 1.
    levels: int
    locations: tuple[SchemaLocation, ...]


def minimal_depth(compiled: CompiledSchema, location: SchemaLocation) -> float:
    """Return the least nesting of a value, as far as required keywords tell.

    Example:
        >>> schema = {"type": "array", "items": {"$ref": "#"}, "minItems": 1}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> minimal_depth(compiled, compiled.root)
        inf
    """
    return _least(compiled, location, hinted=False)


def likely_depth(compiled: CompiledSchema, location: SchemaLocation) -> float:
    """Return the least nesting of a value of the type that a schema hints at.

    As `minimal_depth` if a type is named. A schema without a type that requires
    properties or items is read as one of objects or arrays.

    Example:
        >>> schema = {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> minimal_depth(compiled, compiled.root)
        0.0
        >>> likely_depth(compiled, compiled.root)
        inf
    """
    return _least(compiled, location, hinted=True)


def _least(
    compiled: CompiledSchema, location: SchemaLocation, *, hinted: bool
) -> float:
    cache: dict[SchemaLocation, float] = compiled.memos.setdefault((_least, hinted), {})
    if location not in cache:
        needs = _reachable_needs(compiled, location, cache, hinted=hinted)
        depths = dict.fromkeys(needs, math.inf)
        changed = True
        while changed:
            changed = False
            for needing, needed in needs.items():
                depth = _depth(needed, depths, cache)
                if depth < depths[needing]:
                    depths[needing], changed = depth, True
        cache.update(depths)
    return cache[location]


def _depth(
    needed: list[_Alternatives],
    depths: dict[SchemaLocation, float],
    cache: dict[SchemaLocation, float],
) -> float:
    highest = 0.0
    for levels, locations in needed:
        least = min(
            cache.get(location, depths.get(location, math.inf))
            for location in locations
        )
        highest = max(highest, least + levels)
    return highest


def _reachable_needs(
    compiled: CompiledSchema,
    start: SchemaLocation,
    cache: dict[SchemaLocation, float],
    *,
    hinted: bool,
) -> dict[SchemaLocation, list[_Alternatives]]:
    needs: dict[SchemaLocation, list[_Alternatives]] = {}
    stack = [start]
    while stack:
        location = stack.pop()
        if location in needs or location in cache:
            continue
        needs[location] = _needs(compiled, location, hinted=hinted)
        for alternatives in needs[location]:
            stack.extend(alternatives.locations)
    return needs


def _needs(
    compiled: CompiledSchema, location: SchemaLocation, *, hinted: bool
) -> list[_Alternatives]:
    """Return what every value of a schema needs, or every one of the hinted type."""
    schema = location.schema
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return []
    needs: list[_Alternatives] = []
    target = compiled.target(location) if "$ref" in schema else None
    if target is not None:
        needs.append(_Alternatives(0, (target,)))
        if compiled.dialect.ref_hides_siblings:
            return needs
    needs += [
        _Alternatives(0, (branch,)) for branch in compiled.branches(location, "allOf")
    ]
    for keyword in ("anyOf", "oneOf"):
        branches = compiled.branches(location, keyword)
        if branches:
            needs.append(_Alternatives(0, branches))
    types = names_of(schema.get("type"))
    if hinted and not types:
        types = [kind for keyword, kind in _HINTS.items() if schema.get(keyword)][:1]
    if _SCALARS.isdisjoint(types):
        needs += _needs_below(compiled, location, types)
    return needs


def _needs_below(
    compiled: CompiledSchema, location: SchemaLocation, types: list[str]
) -> list[_Alternatives]:
    schema, child = location.schema, compiled.child
    if types == ["object"]:
        declared = object_of(schema, "properties")
        required = [
            name for name in names_of(schema.get("required")) if name in declared
        ]
        groups = [[name] for name in required]
        if declared and not required and _has_one_declared(schema):
            groups = [list(declared)]
        return [
            _Alternatives(
                1, tuple(child(location, ("properties", name)) for name in names)
            )
            for names in groups
        ]
    if types != ["array"] or not _is_positive(schema.get("minItems")):
        return []
    prefix, remaining = item_keywords(schema, compiled.dialect)
    if prefix and schema[prefix]:
        return [_Alternatives(1, (child(location, (prefix, "0")),))]
    return [_Alternatives(1, (child(location, (remaining,)),))] if remaining else []


def _has_one_declared(schema: Mapping[str, Json]) -> bool:
    return (
        _is_positive(schema.get("minProperties"))
        and schema.get("additionalProperties") is False
        and not schema.get("patternProperties")
    )


def _is_positive(number: Json) -> bool:
    return is_number(number) and number > 0
