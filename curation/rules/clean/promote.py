"""Promote a schema that is embedded in a file about something else."""

from __future__ import annotations

from curation.core.rule import Context, Document, Rule
from curation.json.pointer import change_at, pointer
from curation.schema.roots import embedded
from curation.system.words import counted

NAME = "promote-embedded"


def _apply(document: Document, _context: Context) -> Document:
    name = embedded(document.schema)
    if name is None:
        return document
    inner = document.schema[name]
    siblings = [other for other in document.schema if other != name]
    note = f"the schema stood under {pointer((name,))}"
    if siblings:
        note = f"{note}, beside {counted(len(siblings), 'other member')}"
    return document.changed(inner, [change_at(NAME, (), document.schema, inner, note)])


RULE = Rule(
    name=NAME,
    summary="A root that declares and restricts nothing, with a member that has a "
    "`$schema` of its own, gives way to the first such member.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal), kept to "
    "depth 1 and to roots that restrict nothing in any draft",
    apply=_apply,
)
