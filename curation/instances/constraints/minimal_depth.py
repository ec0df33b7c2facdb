"""How deep the shallowest value of a place nests; infinite where it never ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curation.instances.constraints.keyword_values import item_keywords

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.locations import SchemaLocation

_SCALARS = {"string", "integer", "number", "boolean", "null"}


def minimal_depth(compiled: CompiledSchema, location: SchemaLocation) -> float:
    """Return the least nesting of a value, as far as required keywords tell.

    A lower bound, found as a least fixed point over the places that are needed.
    """
    if location not in compiled.minimal_depths:
        edges = _reachable(compiled, location)
        found = dict.fromkeys(edges, math.inf)
        changed = True
        while changed:
            changed = False
            for place, groups in edges.items():
                new = _height(groups, found, compiled)
                if new < found[place]:
                    found[place], changed = new, True
        compiled.minimal_depths.update(found)
    return compiled.minimal_depths[location]


#: Steps down, then alternatives: one of these places is needed.
_Group = tuple[int, tuple["SchemaLocation", ...]]


def _height(
    groups: list[_Group], found: dict[SchemaLocation, float], compiled: CompiledSchema
) -> float:
    known = compiled.minimal_depths
    highest = 0.0
    for step, places in groups:
        least = min(known.get(each, found.get(each, math.inf)) for each in places)
        highest = max(highest, least + step)
    return highest


def _reachable(
    compiled: CompiledSchema, location: SchemaLocation
) -> dict[SchemaLocation, list[_Group]]:
    edges: dict[SchemaLocation, list[_Group]] = {}
    stack = [location]
    while stack:
        each = stack.pop()
        if each in edges or each in compiled.minimal_depths:
            continue
        edges[each] = _groups(compiled, each)
        for _, places in edges[each]:
            stack.extend(places)
    return edges


def _groups(compiled: CompiledSchema, location: SchemaLocation) -> list[_Group]:
    schema = location.schema
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return []
    child = compiled.child
    found: list[_Group] = []
    target = compiled.target(location) if "$ref" in schema else None
    if target is not None:
        found.append((0, (target,)))
        if compiled.dialect.ref_hides_siblings:
            return found
    count = len(_list(schema.get("allOf")))
    found += [(0, (child(location, ("allOf", str(index))),)) for index in range(count)]
    for keyword in ("anyOf", "oneOf"):
        count = len(_list(schema.get(keyword)))
        if count:
            places = (child(location, (keyword, str(index))) for index in range(count))
            found.append((0, tuple(places)))
    named = schema.get("type")
    if named is not None and not _SCALARS.isdisjoint(
        [named] if isinstance(named, str) else named
    ):
        return found
    return found + _inner(compiled, location, named)


def _inner(
    compiled: CompiledSchema, location: SchemaLocation, named: object
) -> list[_Group]:
    schema, child = location.schema, compiled.child
    found: list[_Group] = []
    members = schema.get("properties")
    if named in ("object", ["object"]) and isinstance(members, dict):
        found += [
            (1, (child(location, ("properties", name)),))
            for name in _list(schema.get("required"))
            if name in members
        ]
    least = schema.get("minItems", 0)
    if named in ("array", ["array"]) and isinstance(least, int | float) and least > 0:
        prefix, rest = item_keywords(schema, compiled.dialect)
        if prefix and schema[prefix]:
            found.append((1, (child(location, (prefix, "0")),)))
        elif rest:
            found.append((1, (child(location, (rest,)),)))
    return found


def _list(value: object) -> list[str]:
    return value if isinstance(value, list) else []
