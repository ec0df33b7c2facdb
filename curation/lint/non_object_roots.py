"""Does a schema accept every value but objects? Such a root was meant otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.acceptance import ALL_TYPES, AcceptedTypes
from curation.references.resolution import document_of

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect


def accepts_every_non_object(schema: Json, dialect: Dialect) -> bool:
    """Return whether a schema surely accepts every value that is no object."""
    document = document_of(schema, dialect)
    try:
        accepted = AcceptedTypes(document).of(document.root)
    except RecursionError:
        return False
    return accepted >= ALL_TYPES - {"object"}
