"""Which keywords a schema uses in keyword position, whatever its draft."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from curation.schema.dialects import ANY_DIALECT, DRAFT_03, Dialect
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from curation.core.json_types import Json

#: What `contentSchema` describes is text inside a string: no draft applies it.
_APPLIED = replace(
    ANY_DIALECT,
    applicators={
        keyword: shape
        for keyword, shape in ANY_DIALECT.applicators.items()
        if keyword not in ANNOTATIONS
    },
)
_EFFECTIVE = KNOWN_KEYWORDS - ANNOTATIONS - CONTAINERS
#: Keywords that are one only as a string; with another value any member's name.
_STRINGS = frozenset({"id", "$id", "$ref"})
#: Keywords that a `$ref` beside them silences up to draft-07.
_SILENCED = (frozenset(_APPLIED.applicators) | ANY_DIALECT.assertions) - CONTAINERS
#: Keywords of draft-03 alone, and keywords that it does not know.
_OLD = frozenset({"divisibleBy", "extends", "disallow"})
_LATER = _EFFECTIVE - DRAFT_03.effective


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The keywords that a schema uses in keyword position."""

    #: Those that do something in some draft; annotations, `format` and
    #: containers of definitions are left out.
    keywords: frozenset[str]
    #: Whether an asserting keyword stands beside a `$ref`.
    asserts_beside_ref: bool
    #: What it uses as only draft-03 does, each described by its keyword.
    old: frozenset[str]
    #: What it uses that draft-03 does not know.
    later: frozenset[str]

    def all_effective(self, dialect: Dialect) -> bool:
        """Return whether every keyword in use does something in the dialect."""
        if self.asserts_beside_ref and dialect.ref_hides_siblings:
            return False
        return self.keywords <= dialect.effective


def usage(schema: Json) -> Usage:
    """Return the keywords that a schema uses, whatever its dialect."""
    keywords: set[str] = set()
    old: set[str] = set()
    beside_ref = array_required = False
    for subschema in subschemas(schema, _APPLIED):
        here = subschema.keys() & _EFFECTIVE
        keywords |= {
            keyword
            for keyword in here
            if keyword not in _STRINGS or isinstance(subschema[keyword], str)
        }
        old |= {keyword for keyword in here if _is_old(keyword, subschema[keyword])}
        array_required |= isinstance(subschema.get("required"), list)
        if isinstance(subschema.get("$ref"), str) and not _SILENCED.isdisjoint(here):
            beside_ref = True
    later = (keywords & _LATER) | ({"required"} if array_required else set())
    return Usage(
        keywords=frozenset(keywords),
        asserts_beside_ref=beside_ref,
        old=frozenset(old),
        later=frozenset(later),
    )


def _is_old(keyword: str, value: Json) -> bool:
    """Return whether only draft-03 has this keyword, or such a value for it."""
    if keyword == "required":
        return isinstance(value, bool)
    if keyword == "type":
        return value == "any" or (
            isinstance(value, list)
            and any(isinstance(item, dict) or item == "any" for item in value)
        )
    if keyword == "dependencies":
        return isinstance(value, dict) and any(
            isinstance(needed, str) for needed in value.values()
        )
    return keyword in _OLD
