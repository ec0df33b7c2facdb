"""Dead keywords: the edited copies call four keywords by names that do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.dialects import ANY_DIALECT
from curation.documents import Change, Document
from curation.jsontext import write
from curation.rules import Rule
from curation.schema_walk import edited, pointer, subschemas

if TYPE_CHECKING:
    from curation.documents import Json
    from curation.rules import Context
    from curation.schema_walk import Tokens

_NAME = "dead-keywords"
#: The tool that the copies were edited for knew no more than the old words.
LIVING = {
    "_format": "format",
    "_uniqueItems": "uniqueItems",
    "_id": "id",
    "_$id": "$id",
}
#: Folder of the edited copies in their archive. Elsewhere `_id` is a word of the
#: author's own.
_EDITED = "expDataset/"


def _dead(schema: Json) -> list[str]:
    """Return the dead words of a schema whose living name is free."""
    return [
        word
        for word, living in LIVING.items()
        if word in schema and living not in schema
    ]


def apply(document: Document, _context: Context) -> Document:
    """Give keywords of an edited copy their names back, in their old place.

    A word whose living name is taken in the same schema stays as it is.
    """
    if _EDITED not in document.provenance.path:
        return document
    if not any(map(_dead, subschemas(document.schema, ANY_DIALECT))):
        return document
    changes: list[Change] = []

    def revive(tokens: Tokens, schema: Json) -> Json:
        dead = _dead(schema) if isinstance(schema, dict) else []
        changes.extend(
            Change(
                rule=_NAME,
                pointer=pointer((*tokens, LIVING[word])),
                before=write({word: schema[word]}),
                after=write({LIVING[word]: schema[word]}),
            )
            for word in dead
        )
        names = {word: LIVING[word] for word in dead}
        if not names:
            return schema
        return {names.get(word, word): each for word, each in schema.items()}

    return document.changed(edited(document.schema, ANY_DIALECT, revive), changes)


RULE = Rule(
    name=_NAME,
    summary="Call `_format`, `_uniqueItems`, `_id` and `_$id` by their names again "
    "where they stand as keywords of an edited copy.",
    source="Comparison of the edited copies of JSONSchemaWitnessGeneration with their "
    "upstream files: 7,833 places of `_format` alone",
    positions={"clean": 15},
    apply=apply,
)
