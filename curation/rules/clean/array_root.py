"""Array roots: an array of one object is unwrapped, other roots are rejected."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import change_at

_NAME = "array-root"


def _kind(value: Json) -> str:
    if isinstance(value, list):
        return f"an array of {len(value)} that holds no single object"
    if isinstance(value, bool):
        return "a boolean, which leaves nothing to benchmark"
    if value is None:
        return "null"
    return "a string" if isinstance(value, str) else "a number"


def _apply(document: Document, _context: Context) -> Document | Rejected:
    """Unwrap an array of one object; reject every other root but an object.

    `true` and `false` are schemas from draft-06 on, but no benchmark of anything.
    """
    root = document.schema
    if isinstance(root, dict):
        return document
    if isinstance(root, list) and len(root) == 1 and isinstance(root[0], dict):
        note = "the one object of an array is the schema"
        change = change_at(_NAME, (), root, root[0], note)
        return document.changed(root[0], [change])
    return Rejected(reason=Reason.NOT_A_SCHEMA, detail=f"the root is {_kind(root)}")


RULE = Rule(
    name=_NAME,
    summary="Unwrap an array of one object; drop other roots that are no object.",
    source="JSON Schema draft-04 core, section 3.2: a schema is an object; ten files "
    "of the GitHub corpus hold an array",
    apply=_apply,
    reasons=(Reason.NOT_A_SCHEMA,),
)
