"""A library that calls its definitions `define`."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.rules.editing import mended, with_schema
from curation.schema.keywords import CONTAINERS
from curation.validation.dialect_decision import is_refused

_NAME = "definitions-name"
_WRONG, _RIGHT = "define", "definitions"


def _apply(document: Document, _context: Context) -> Document:
    root = document.schema
    definitions = root.get(_WRONG)
    if (
        not isinstance(definitions, dict)
        or not all(isinstance(member, dict) for member in definitions.values())
        or not CONTAINERS.isdisjoint(root)
    ):
        return document
    renamed = {
        _RIGHT if name == _WRONG else name: value for name, value in root.items()
    }
    if is_refused(renamed) and not is_refused(root):
        return document
    note = f"no draft knows `{_WRONG}`"
    return mended(with_schema(document, _NAME, renamed, note=note), _NAME, _led, note)


def _led(schema: dict[str, Json]) -> dict[str, Json]:
    reference = schema.get("$ref")
    start = f"#/{_WRONG}/"
    if not isinstance(reference, str) or not reference.startswith(start):
        return schema
    return {**schema, "$ref": f"#/{_RIGHT}/{reference.removeprefix(start)}"}


RULE = Rule(
    name=_NAME,
    summary="A root's `define` that holds schemas becomes `definitions`, where there "
    "are none yet.",
    source="Four GitHub files; the published benchmark renames three of them",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
