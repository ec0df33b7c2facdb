"""The JSON texts of a document, remembered while one after another asks for them.

A document is what no one changes: a rule that edits one makes another.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import orjson

from curation.json.same_object import SameObject
from curation.json.text import canonical, compact, spaced

if TYPE_CHECKING:
    from curation.core.json_types import Json


def compact_of_document(schema: Json) -> bytes | None:
    """Return what `curation.json.text.compact` does."""
    return _compact_of(SameObject(schema))


@lru_cache(maxsize=2)
def _compact_of(schema: SameObject[Json]) -> bytes | None:
    return compact(schema.value)


def write_document(schema: Json) -> str:
    """Return what `curation.json.text.write` does."""
    return spaced(schema, compact_of_document(schema))


def canonical_of_document(schema: Json) -> bytes:
    """Return what `curation.json.text.canonical` does."""
    return _canonical_of(SameObject(schema))


@lru_cache(maxsize=1)
def _canonical_of(schema: SameObject[Json]) -> bytes:
    if _compact_of(schema) is not None:
        return orjson.dumps(schema.value, option=orjson.OPT_SORT_KEYS)
    return canonical(schema.value)
