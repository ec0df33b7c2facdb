"""Does every metaschema that could be meant refuse a schema?

Repairs ask this first: what some draft reads as it stands is left to that draft.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from curation.json.same_object import SameObject
from curation.schema.dialect_uris import StatementKind, statement
from curation.schema.dialects import DRAFT_03, DRAFT_04
from curation.schema.from_draft_03 import CannotUpgradeError, upgraded
from curation.schema.keyword_usage import usage
from curation.validation.metaschemas import is_valid, valid_under

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect


def refused_by(schema: Json) -> Dialect | None:
    """Return the draft that a schema declares, if its metaschema refuses it."""
    dialect = statement(schema).dialect
    if dialect is None or dialect is DRAFT_03 or is_valid(schema, dialect):
        return None
    return dialect


def is_refused(schema: Json) -> bool:
    """Return whether the draft that a schema declares refuses it, or else each draft.

    Draft-03 counts as what its upgrade to draft-04 is, whether declared or not. What
    declares a metaschema of somebody else is not refused here.

    Example:
        >>> is_refused({"type": "bool"})
        True
        >>> is_refused({"properties": {"a": {"required": True}}})
        False
    """
    return _is_refused(SameObject(schema))


@lru_cache(maxsize=4)
def _is_refused(asked: SameObject[Json]) -> bool:
    schema = asked.value
    said = statement(schema)
    if said.kind is StatementKind.UNKNOWN:
        return False
    if said.dialect is not None and said.dialect is not DRAFT_03:
        return not is_valid(schema, said.dialect)
    return not valid_under(schema) and not _is_draft_03(schema)


def _is_draft_03(schema: Json) -> bool:
    """Return whether a schema can be upgraded from draft-03."""
    used = usage(schema)
    if not used.old or used.later:
        return False
    try:
        return is_valid(upgraded(schema, "")[0], DRAFT_04)
    except CannotUpgradeError:
        return False
