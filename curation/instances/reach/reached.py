"""Which schemas of a record hold for some value inside of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.reach.schema_graph import SchemaGraph, Steps
    from curation.schema.subschemas import SchemaLocation

#: Pairs of a schema and a value that are looked at in one instance.
_MOST: Final = 50_000


def reached_by(graph: SchemaGraph, value: Json) -> set[SchemaLocation]:
    """Return the schemas that apply to a value or one inside of it, and hold.

    A branch holds where jsonschema-rs accepts the value by it.

    Args:
        graph: Of the schema.
        value: An instance that the schema accepts.
    """
    root = graph.compiled.root
    found = {root}
    stack: list[tuple[SchemaLocation, Json]] = [(root, value)]
    seen = {(root, id(value))}
    while stack and len(seen) < _MOST:
        location, value = stack.pop()
        for inner, member in _applied(graph, location, value):
            key = (inner, id(member))
            if key not in seen:
                seen.add(key)
                found.add(inner)
                stack.append((inner, member))
    return found


def _applied(
    graph: SchemaGraph, location: SchemaLocation, value: Json
) -> Iterator[tuple[SchemaLocation, Json]]:
    """Yield the schemas that one applies, each with the value that it is about."""
    steps = graph.steps(location)
    for inner in (*steps.always, *_decided(graph.compiled, steps, value)):
        yield inner, value
    if isinstance(value, dict) and steps.properties:
        for name, member in value.items():
            for inner in graph.compiled.property_locations(location, name):
                yield inner, member
    elif isinstance(value, list) and steps.elements:
        for index, member in enumerate(value):
            for inner in graph.compiled.item_locations(location, index):
                yield inner, member


def _decided(
    compiled: CompiledSchema, steps: Steps, value: Json
) -> Iterator[SchemaLocation]:
    """Yield the schemas that apply to the same value because of what it is."""
    for branches in steps.unions:
        yield from (branch for branch in branches if compiled.accepts(branch, value))
    if steps.condition is not None:
        holds = compiled.accepts(steps.condition, value)
        consequence = steps.then if holds else steps.otherwise
        if consequence is not None:
            yield consequence
    if isinstance(value, dict):
        yield from (inner for name, inner in steps.dependent if name in value)
