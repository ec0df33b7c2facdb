"""Count the sites and branches of a schema that no value reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.search.reach import SchemaGraph, reached_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json


def unreached(
    schema: Json, values: Iterable[Json], dialect: str = "draft-07"
) -> set[str]:
    """Return the pointers of the sites and branches that none of the values reaches."""
    graph = SchemaGraph(CompiledSchema.from_json(schema, dialect))
    left = set(graph.targets())
    for value in values:
        left -= reached_by(graph, value)
    return {location.pointer for location in left}
