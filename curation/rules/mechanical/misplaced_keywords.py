"""Keywords of an object that stand among its properties."""

from __future__ import annotations

from functools import partial

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.rules.editing import mended
from curation.schema.dialects import DRAFT_04
from curation.schema.misspellings import type_meant
from curation.validation.dialect_decision import is_refused, refused_by

_NAME = "misplaced-keywords"
_COUNTS = frozenset({"minProperties", "maxProperties"})
_TEXTS = frozenset({"title", "description"})


def _apply(document: Document, _context: Context) -> Document:
    if not is_refused(document.schema):
        return document
    booleans = refused_by(document.schema) is DRAFT_04
    mend = partial(_mended, booleans=booleans)
    note = "a keyword of the object, among its properties"
    return mended(document, _NAME, mend, note)


def _mended(schema: dict[str, Json], *, booleans: bool) -> dict[str, Json]:
    """Return the schema with keywords from among its properties at their places.

    Args:
        schema: One subschema.
        booleans: Whether a boolean is no schema, as in draft-04.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    moved = {
        name: value
        for name, value in properties.items()
        if _is_keyword(name, value, booleans=booleans)
        and (name not in schema or _are_names(schema[name]))
    }
    if not moved:
        return schema
    remaining = {name: value for name, value in properties.items() if name not in moved}
    names, required = moved.get("required"), schema.get("required")
    if isinstance(names, list) and isinstance(required, list):
        moved["required"] = [
            *required,
            *(name for name in names if name not in required),
        ]
    return {**schema, "properties": remaining, **moved}


def _is_keyword(name: str, value: Json, *, booleans: bool) -> bool:
    if name == "required":
        return _are_names(value)
    if name == "additionalProperties":
        return booleans and isinstance(value, bool)
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool)
    return name in _TEXTS and isinstance(value, str) and type_meant(value) is None


def _are_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


RULE = Rule(
    name=_NAME,
    summary="A list `required`, a count, a title or description and, in draft-04, a "
    "boolean `additionalProperties` that stand among the properties belong to the "
    "object, in a schema that its draft refuses.",
    source="Draft-04 validation, section 5.4.4: members of `properties` are schemas; "
    "about thirty GitHub files, mended so in the published benchmark",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
