"""Dead keywords: the edited copies call four keywords by names that do nothing."""

from __future__ import annotations

from curation.core.rule import ABSENT, Change, Context, Document, Json, Origin, Rule
from curation.json.pointer import Tokens, change_at
from curation.json.values import searchable
from curation.schema.dialects import ANY_DIALECT
from curation.schema.subschemas import edited

_NAME = "dead-keywords"
#: The tool that the copies were edited for knew no more than the old keywords.
LIVING: dict[str, str] = {
    "_format": "format",
    "_uniqueItems": "uniqueItems",
    "_id": "id",
    "_$id": "$id",
}
#: Folder of the edited copies in their archive.
_EDITED = "expDataset/"


def _apply(document: Document, _context: Context) -> Document:
    """Leave none of the four names in keyword position.

    In an edited copy they get their names back, in their old place, unless the
    living name is taken. Anywhere else they are an author's own names, which no
    draft knows: without them the schema says the same, and no one takes it for an
    edited one. The user's own schemas are left alone.
    """
    if document.provenance.origin is Origin.LOCAL:
        return document
    text = searchable(document.schema)
    if not any(b'"%s":' % name.encode() in text for name in LIVING):
        return document
    renames = _EDITED in document.provenance.path
    changes: list[Change] = []

    def revive(tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict) or LIVING.keys().isdisjoint(schema):
            return schema
        result: dict[str, Json] = {}
        members: dict[str, Json] = schema
        for keyword, value in members.items():
            name: str = LIVING.get(keyword, keyword) if renames else keyword
            dropped = keyword in LIVING and (not renames or name in schema)
            if not dropped:
                result[name] = value
            if keyword in LIVING:
                changes.append(_change((*tokens, keyword), name, value, gone=dropped))
        return result

    return document.changed(edited(document.schema, ANY_DIALECT, revive), changes)


def _change(tokens: Tokens, name: str, value: Json, *, gone: bool) -> Change:
    if gone:
        return change_at(_NAME, tokens, value, ABSENT, "does nothing in any draft")
    new_tokens = (*tokens[:-1], name)
    return change_at(_NAME, new_tokens, {tokens[-1]: value}, {name: value})


RULE = Rule(
    name=_NAME,
    summary="Call `_format`, `_uniqueItems`, `_id` and `_$id` by their names again "
    "where they stand as keywords of an edited copy; drop them elsewhere.",
    source="Comparison of the edited copies of JSONSchemaWitnessGeneration with their "
    "upstream files: 7,833 places of `_format` alone",
    apply=_apply,
)
