"""How deep the shallowest value of a schema nests; infinite where it never ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.constraints.keyword_values import (
    array_of,
    item_keywords,
    names_of,
    object_of,
)
from curation.json.values import is_number

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.locations import SchemaLocation

_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


class _Alternatives(NamedTuple):
    """Schemas of which a value needs one."""

    #: Levels of the instance between the value and what meets the schema: 0 or 1.
    levels: int
    locations: tuple[SchemaLocation, ...]


def minimal_depth(compiled: CompiledSchema, location: SchemaLocation) -> float:
    """Return the least nesting of a value, as far as required keywords tell.

    A lower bound, found as a least fixed point over the schemas that are needed.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"type": "array", "items": {"$ref": "#"}, "minItems": 1}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> minimal_depth(compiled, compiled.root)
        inf
    """
    if location not in compiled.minimal_depths:
        needs = _reachable_needs(compiled, location)
        found = dict.fromkeys(needs, math.inf)
        changed = True
        while changed:
            changed = False
            for needing, needed in needs.items():
                depth = _depth(needed, found, compiled)
                if depth < found[needing]:
                    found[needing], changed = depth, True
        compiled.minimal_depths.update(found)
    return compiled.minimal_depths[location]


def _depth(
    needed: list[_Alternatives],
    found: dict[SchemaLocation, float],
    compiled: CompiledSchema,
) -> float:
    known = compiled.minimal_depths
    highest = 0.0
    for levels, locations in needed:
        least = min(
            known.get(location, found.get(location, math.inf)) for location in locations
        )
        highest = max(highest, least + levels)
    return highest


def _reachable_needs(
    compiled: CompiledSchema, start: SchemaLocation
) -> dict[SchemaLocation, list[_Alternatives]]:
    needs: dict[SchemaLocation, list[_Alternatives]] = {}
    stack = [start]
    while stack:
        location = stack.pop()
        if location in needs or location in compiled.minimal_depths:
            continue
        needs[location] = _needs(compiled, location)
        for alternatives in needs[location]:
            stack.extend(alternatives.locations)
    return needs


def _needs(compiled: CompiledSchema, location: SchemaLocation) -> list[_Alternatives]:
    """Return what every value of a schema needs."""
    schema = location.schema
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return []
    found: list[_Alternatives] = []
    target = compiled.target(location) if "$ref" in schema else None
    if target is not None:
        found.append(_Alternatives(0, (target,)))
        if compiled.dialect.ref_hides_siblings:
            return found
    found += [
        _Alternatives(0, (branch,)) for branch in _branches(compiled, location, "allOf")
    ]
    for keyword in ("anyOf", "oneOf"):
        branches = _branches(compiled, location, keyword)
        if branches:
            found.append(_Alternatives(0, branches))
    types = names_of(schema.get("type"))
    if _SCALARS.isdisjoint(types):
        found += _needs_below(compiled, location, types)
    return found


def _branches(
    compiled: CompiledSchema, location: SchemaLocation, keyword: str
) -> tuple[SchemaLocation, ...]:
    count = len(array_of(location.schema, keyword))
    return tuple(compiled.child(location, (keyword, str(at))) for at in range(count))


def _needs_below(
    compiled: CompiledSchema, location: SchemaLocation, types: list[str]
) -> list[_Alternatives]:
    """Return what required properties and the first element need."""
    schema, child = location.schema, compiled.child
    if types == ["object"]:
        declared = object_of(schema, "properties")
        return [
            _Alternatives(1, (child(location, ("properties", name)),))
            for name in names_of(schema.get("required"))
            if name in declared
        ]
    least = schema.get("minItems", 0)
    if types != ["array"] or not is_number(least) or least <= 0:
        return []
    prefix, rest = item_keywords(schema, compiled.dialect)
    if prefix and schema[prefix]:
        return [_Alternatives(1, (child(location, (prefix, "0")),))]
    return [_Alternatives(1, (child(location, (rest,)),))] if rest else []
