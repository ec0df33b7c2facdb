"""Members that an object has more than once, equal each time, are one member."""

from __future__ import annotations

from curation.core.rule import Change, Context, Document, RepairKind, Rule
from curation.json.pointer import at, tokens_of
from curation.json.text import write

NAME = "equal-members"


def _apply(document: Document, _context: Context) -> Document:
    changes = []
    for merged in document.merged:
        tokens = tokens_of(merged.pointer)
        name, value = write(tokens[-1]), write(at(document.schema, tokens))
        member = f"{name}: {value}"
        changes.append(
            Change(
                rule=NAME,
                pointer=merged.pointer,
                before=f"{{{member}, {member}}}",
                after=f"{{{member}}}",
                note=f"stood there {merged.times} times, equal each time",
            )
        )
    return document.changed(document.schema, changes) if changes else document


RULE = Rule(
    name=NAME,
    summary="Members of one object with equal names and equal values become one; a "
    "document in which such values differ is not read at all.",
    source="RFC 8259, section 4: what is made of equal names is left to the reader, "
    "and every reader makes the same of equal members",
    apply=_apply,
    repair=RepairKind.LOSSLESS,
)
