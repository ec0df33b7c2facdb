"""For every assertion and applicator, schemas that use it; what no value reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.witnesses.reach import SchemaGraph, reached_by
from curation.schema.dialects import DIALECTS, DRAFT_04
from curation.validation.metaschemas import is_valid
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json, UntypedJson


#: Keyword to schemas that can be met, in any draft that knows the keyword.
SATISFIABLE: dict[str, list[UntypedJson]] = dict(table(__file__, "keywords"))
#: What says nothing of an instance by itself.
SILENT = frozenset(
    {
        "definitions",
        "$defs",
        "contentSchema",
        "id",
        "$id",
        "$anchor",
        "$recursiveAnchor",
        "$dynamicAnchor",
        "$vocabulary",
    }
)


def cases() -> list[tuple[str, str, UntypedJson]]:
    """Return dialect, keyword and schema for every keyword of every draft."""
    found = []
    for dialect in DIALECTS:
        for keyword in sorted(dialect.effective - SILENT):
            given = SATISFIABLE.get(keyword, [])
            if keyword in ("exclusiveMinimum", "exclusiveMaximum"):
                given = [_exclusive(keyword, old=dialect is DRAFT_04)]
            usable = [each for each in given if is_valid(each, dialect)]
            found += [(dialect.name, keyword, each) for each in usable]
    return found


def _exclusive(keyword: str, *, old: bool) -> UntypedJson:
    bound = keyword.removeprefix("exclusive").lower()
    if old:
        return {"type": "integer", bound: 5, keyword: True}
    return {"type": "integer", keyword: 5}


def unreached(
    schema: Json, values: Iterable[Json], dialect: str = "draft-07"
) -> set[str]:
    """Return the pointers of the sites and branches that none of the values reaches."""
    graph = SchemaGraph(CompiledSchema.from_json(schema, dialect))
    left = set(graph.targets())
    for value in values:
        left -= reached_by(graph, value)
    return {location.pointer for location in left}
