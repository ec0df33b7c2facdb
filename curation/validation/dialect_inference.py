"""The dialect of a schema that declares none, from the keywords that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.schema.dialects import DIALECTS, Dialect
from curation.validation.metaschemas import valid_under

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.keyword_usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """The dialect that fits a schema which declares none."""

    dialect: Dialect
    #: Whether some keyword in use does nothing in it, as in every valid one.
    mixed: bool


def inferred(schema: Json, used: Usage) -> Inferred | None:
    """Return the newest draft that fits a schema, or None if it is valid in none.

    A draft fits where the schema is valid and every keyword in use has effect;
    where none fits, the newest is taken in which the schema is valid.
    """
    names = valid_under(schema)
    valid = [dialect for dialect in reversed(DIALECTS) if dialect.name in names]
    for dialect in valid:
        if used.all_effective(dialect):
            return Inferred(dialect=dialect, mixed=False)
    return Inferred(dialect=valid[0], mixed=True) if valid else None
