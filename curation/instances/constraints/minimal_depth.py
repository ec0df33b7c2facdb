"""How deep the shallowest value of a place nests; infinite where it never ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curation.instances.constraints.conjunction import item_keywords

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import Node, Subject

_SCALARS = {"string", "integer", "number", "boolean", "null"}


def height(subject: Subject, node: Node) -> float:
    """Return the least nesting of a value, as far as required keywords tell.

    A lower bound, found as a least fixed point over the places that are needed.
    """
    if node not in subject.heights:
        edges = _reachable(subject, node)
        found = dict.fromkeys(edges, math.inf)
        changed = True
        while changed:
            changed = False
            for place, groups in edges.items():
                new = _height(groups, found, subject)
                if new < found[place]:
                    found[place], changed = new, True
        subject.heights.update(found)
    return subject.heights[node]


#: Steps down, then alternatives: one of these places is needed.
_Group = tuple[int, tuple["Node", ...]]


def _height(groups: list[_Group], found: dict[Node, float], subject: Subject) -> float:
    known = subject.heights
    highest = 0.0
    for step, places in groups:
        least = min(known.get(each, found.get(each, math.inf)) for each in places)
        highest = max(highest, least + step)
    return highest


def _reachable(subject: Subject, node: Node) -> dict[Node, list[_Group]]:
    edges: dict[Node, list[_Group]] = {}
    stack = [node]
    while stack:
        each = stack.pop()
        if each in edges or each in subject.heights:
            continue
        edges[each] = _groups(subject, each)
        for _, places in edges[each]:
            stack.extend(places)
    return edges


def _groups(subject: Subject, node: Node) -> list[_Group]:
    schema = node.schema
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return []
    child = subject.child
    found: list[_Group] = []
    target = subject.target(node) if "$ref" in schema else None
    if target is not None:
        found.append((0, (target,)))
        if subject.dialect.ref_hides_siblings:
            return found
    count = len(_list(schema.get("allOf")))
    found += [(0, (child(node, ("allOf", str(index))),)) for index in range(count)]
    for keyword in ("anyOf", "oneOf"):
        count = len(_list(schema.get(keyword)))
        if count:
            places = (child(node, (keyword, str(index))) for index in range(count))
            found.append((0, tuple(places)))
    named = schema.get("type")
    if named is not None and not _SCALARS.isdisjoint(
        [named] if isinstance(named, str) else named
    ):
        return found
    return found + _inner(subject, node, named)


def _inner(subject: Subject, node: Node, named: object) -> list[_Group]:
    schema, child = node.schema, subject.child
    found: list[_Group] = []
    members = schema.get("properties")
    if named in ("object", ["object"]) and isinstance(members, dict):
        found += [
            (1, (child(node, ("properties", name)),))
            for name in _list(schema.get("required"))
            if name in members
        ]
    least = schema.get("minItems", 0)
    if named in ("array", ["array"]) and isinstance(least, int | float) and least > 0:
        prefix, rest = item_keywords(schema, subject)
        if prefix and schema[prefix]:
            found.append((1, (child(node, (prefix, "0")),)))
        elif rest:
            found.append((1, (child(node, (rest,)),)))
    return found


def _list(value: object) -> list[str]:
    return value if isinstance(value, list) else []
