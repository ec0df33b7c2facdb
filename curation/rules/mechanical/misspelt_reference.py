"""References that are called `#ref`."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.json.values import searchable
from curation.rules.editing import mended
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, CONTAINERS

_NAME = "misspelt-reference"
_WRONG, _RIGHT = "#ref", "$ref"
#: What asks something where it stands. Beside a `$ref` drafts up to 7 would ignore it:
#: the mended schema would ask for less than the one that was written.
_ASKING = ANY_DIALECT.effective - CONTAINERS - ANNOTATIONS - {"$ref", "id", "$id"}
_SIGN = b'"#ref":"'


def _apply(document: Document, _context: Context) -> Document:
    if _SIGN not in searchable(document.schema):
        return document
    return mended(document, _NAME, _mended, f"no draft knows `{_WRONG}`")


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    if not isinstance(schema.get(_WRONG), str) or _RIGHT in schema:
        return schema
    if not _ASKING.isdisjoint(schema):
        return schema
    return {_RIGHT if name == _WRONG else name: value for name, value in schema.items()}


RULE = Rule(
    name=_NAME,
    summary="`#ref` with a text becomes `$ref`, where a schema has no `$ref` and asks "
    "nothing else.",
    source="One GitHub file; the published benchmark mends it",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
