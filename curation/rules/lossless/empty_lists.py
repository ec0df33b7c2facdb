"""Empty lists where a draft wants an entry."""

from __future__ import annotations

from curation.core.rule import Json, RepairKind, Rule
from curation.rules.editing import mends_as_meant
from curation.schema.subschemas import without

_NAME = "empty-lists"


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    if schema.get("required") == []:
        schema = without(schema, "required")
    if schema.get("items") == [] and "additionalItems" not in schema:
        schema = without(schema, "items")
    needed = schema.get("dependencies")
    if isinstance(needed, dict) and [] in needed.values():
        nonempty = {name: value for name, value in needed.items() if value != []}
        schema = {**schema, "dependencies": nonempty}
    return schema


RULE = Rule(
    name=_NAME,
    summary="`required: []`, `items: []` and dependencies on nothing are dropped where "
    "the schema's own draft does not allow them; that of an undeclared schema is the "
    "one that its words then show.",
    source="Draft-04 validation, sections 5.3.1, 5.4.3 and 5.4.5 want one entry; from "
    "draft-06 on an empty `required` is legal and asks nothing",
    apply=mends_as_meant(_NAME, _mended, "an empty list asks nothing"),
    repair=RepairKind.LOSSLESS,
)
