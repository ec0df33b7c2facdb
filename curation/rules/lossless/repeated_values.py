"""Repeated entries in lists of names, types or values."""

from __future__ import annotations

from curation.core.rule import Json, RepairKind, Rule
from curation.json.text import canonical
from curation.rules.editing import mends_as_meant

_NAME = "repeated-values"
_LISTS = ("required", "enum", "type")


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    for keyword in _LISTS:
        once = _once(schema.get(keyword))
        if once is not None:
            schema = {**schema, keyword: once}
    needed = schema.get("dependencies")
    if isinstance(needed, dict):
        fewer = {name: once for name, names in needed.items() if (once := _once(names))}
        if fewer:
            schema = {**schema, "dependencies": {**needed, **fewer}}
    return schema


def _once(values: Json) -> list[Json] | None:
    """Return a list with each value once, or None if it is so already."""
    if not isinstance(values, list):
        return None
    first: dict[bytes, Json] = {}
    for value in values:
        first.setdefault(canonical(value), value)
    return None if len(first) == len(values) else list(first.values())


RULE = Rule(
    name=_NAME,
    summary="Of equal entries of `required`, `enum`, `type` and of a dependency the "
    "first stays, where the schema's own draft does not allow them.",
    source="Draft-04 validation, sections 5.4.3, 5.5.1 and 5.5.2: entries are unique; "
    "all of these keywords ask whether something is among them",
    apply=mends_as_meant(_NAME, _mended, "an entry says no more the second time"),
    repair=RepairKind.LOSSLESS,
)
