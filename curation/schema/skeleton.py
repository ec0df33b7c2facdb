"""The skeleton of a record: what is left when it is stripped of texts for people.

Two schemas that differ in titles, texts, examples or identifiers only have one
skeleton, and so one split (`curation.schema.similarity.shingles.split_key`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.json.text import digest
from curation.schema.subschemas import edited

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Keywords that a skeleton lacks: annotations and identifiers, `format` kept.
STRIPPED = frozenset(
    {
        "title",
        "description",
        "$comment",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "id",
        "$id",
        "$schema",
    }
)


def _strip(_tokens: Tokens, schema: Json) -> Json:
    if not isinstance(schema, dict) or STRIPPED.isdisjoint(schema):
        return schema
    return {name: value for name, value in schema.items() if name not in STRIPPED}


def skeleton(schema: Json, dialect: Dialect) -> Json:
    """Return the schema without `STRIPPED`, wherever they stand as keywords.

    A property that is named `title` stays, and so does all that is data: members
    of `enum`, `const` and of what the dialect does not know.
    """
    return edited(schema, dialect, _strip)


def skeleton_digest(schema: Json, dialect: Dialect) -> str:
    """Return the sha256 of the skeleton's canonical form, in hexadecimal."""
    return digest(skeleton(schema, dialect))
