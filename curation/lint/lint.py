"""Lints: defects that stay, each flagged by a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from curation.core.documents import Lint
from curation.json.pointer import pointer
from curation.lint import contradictions, idle_keywords
from curation.references.reachable import (
    ALL_TYPES,
    accepted_types,
    any_leaves_the_subschemas,
    taking_part,
)
from curation.references.schema import schema_of
from curation.schema.dialects import ANY_DIALECT, Dialect
from curation.schema.keywords import KNOWN_KEYWORDS, TYPE_OF_KEYWORD, Shape
from curation.schema.roots import constrains, looks_like_a_schema
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.lint.contradictions import LintCheck


#: Keywords by which a root does describe its content.
_DESCRIBING = {
    keyword
    for keyword, shape in ANY_DIALECT.applicators.items()
    if shape is not Shape.MAP or TYPE_OF_KEYWORD.get(keyword) == "object"
} - {"type"} | {"$ref", "enum", "const"}


def _members_outside_properties(root: Json) -> Iterator[str]:
    """Yield the members of a root that were meant as properties.

    Such a root has no keyword that describes content, and a member that no draft knows
    holds a schema that restricts something.
    """
    if (
        isinstance(root, dict)
        and looks_like_a_schema(root)
        and _DESCRIBING.isdisjoint(root)
    ):
        for name, member in root.items():
            unknown = name not in KNOWN_KEYWORDS and isinstance(member, dict)
            if unknown and constrains(member):
                yield name


#: Every check of one schema, in the order in which codes are listed.
CHECKS = (*idle_keywords.CHECKS, *contradictions.CHECKS)
#: Code of the lint of a root that accepts every other value than an object.
NON_OBJECT_ROOT = "non-object-root"
#: Code of the lint of a root whose properties are next to its keywords.
OUTSIDE = "content-outside-properties"
#: Every code that `lints` can give, with its meaning.
CODES: Mapping[str, str] = {
    **{check.code: check.meaning for check in CHECKS},
    NON_OBJECT_ROOT: "every value that is not an object passes: add `type: object`",
    OUTSIDE: "a root without `properties` has a schema in a member that no draft knows",
}


@lru_cache(maxsize=4096)
def _checks(names: tuple[str, ...], dialect: Dialect) -> tuple[LintCheck, ...]:
    members = frozenset(names)
    return tuple(check for check in CHECKS if check.concerns(members, dialect))


def lints(schema: Json, dialect: Dialect) -> list[Lint]:
    """Return the defects of a schema under its dialect, sorted by code and pointer.

    Example:
        >>> lints({"minimum": 2, "maximum": 1}, DRAFT_07)
        [Lint(code='crossed-bounds', pointer='/minimum')]
    """
    defects = {
        Lint(code=OUTSIDE, pointer=pointer((name,)))
        for name in _members_outside_properties(schema)
    }
    with suppress(RecursionError):
        if accepted_types(schema_of(schema, dialect)) >= ALL_TYPES - {"object"}:
            defects.add(Lint(code=NON_OBJECT_ROOT, pointer=""))
    leaves = any_leaves_the_subschemas(schema, dialect)
    suspects = {
        id(subschema)
        for subschema in subschemas(schema, dialect)
        for check in _checks(tuple(subschema), dialect)
        if any(check.find(subschema, dialect))
    }
    if leaves or suspects:
        for location in taking_part(schema, dialect):
            if leaves or id(location.schema) in suspects:
                part = location.keywords
                defects |= {
                    Lint(code=check.code, pointer=location.pointer + pointer(tokens))
                    for check in _checks(tuple(part), dialect)
                    for tokens in check.find(part, dialect)
                }
    return sorted(defects)
