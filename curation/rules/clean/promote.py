"""Take out a schema that is embedded in a file about something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Change
from curation.core.rule import Rule
from curation.json.pointer import pointer
from curation.json.text import write
from curation.schema.roots import embedded

if TYPE_CHECKING:
    from curation.core.documents import Document
    from curation.core.rule import Context

NAME = "promote-embedded"


def _apply(document: Document, _context: Context) -> Document:
    name = embedded(document.schema)
    if name is None:
        return document
    inner = document.schema[name]
    others = [other for other in document.schema if other != name]
    note = f"the schema stood under {pointer((name,))}"
    change = Change(
        rule=NAME,
        pointer="",
        before=write(document.schema),
        after=write(inner),
        note=f"{note}, beside {len(others)} other members" if others else note,
    )
    return document.changed(inner, [change])


RULE = Rule(
    name=NAME,
    summary="A root that declares and restricts nothing, with a member that has a "
    "`$schema` of its own, gives way to the first such member.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal), kept to "
    "depth 1 and to roots that restrict nothing in any draft",
    apply=_apply,
)
