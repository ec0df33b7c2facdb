"""What is wrong with a schema and stays: every defect that is flagged by a code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from curation.core.documents import Lint
from curation.json.pointer import pointer
from curation.lint import contradictions, idle_keywords
from curation.lint.non_object_roots import accepts_every_non_object
from curation.lint.outside_properties import members_outside_properties
from curation.references.reachable import any_leaves_the_subschemas, taking_part
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json
    from curation.lint.check import LintCheck
    from curation.schema.dialects import Dialect

#: Every check of one schema, in the order in which codes are listed.
CHECKS = (*idle_keywords.CHECKS, *contradictions.CHECKS)
_NON_OBJECT_ROOT = "non-object-root"
_OUTSIDE = "content-outside-properties"
#: Every code that `lints` can give, with its meaning.
CODES: Mapping[str, str] = {
    **{check.code: check.meaning for check in CHECKS},
    _NON_OBJECT_ROOT: "the root accepts every value that is no object",
    _OUTSIDE: "a root without `properties` has a schema in a member that no draft "
    "knows",
}


@lru_cache(maxsize=4096)
def _checks(names: tuple[str, ...], dialect: Dialect) -> tuple[LintCheck, ...]:
    """Return the checks that the members of a schema, by their names, call for."""
    members = frozenset(names)
    return tuple(check for check in CHECKS if check.concerns(members, dialect))


def lints(schema: Json, dialect: Dialect) -> list[Lint]:
    """Return the defects of a schema under its dialect, sorted by code and pointer.

    Example:
        >>> lints({"minimum": 2, "maximum": 1}, DRAFT_07)
        [Lint(code='crossed-bounds', pointer='/minimum')]
    """
    found: set[Lint] = set()
    if accepts_every_non_object(schema, dialect):
        found.add(Lint(code=_NON_OBJECT_ROOT, pointer=""))
    found |= {
        Lint(code=_OUTSIDE, pointer=pointer((name,)))
        for name in members_outside_properties(schema)
    }
    leaves = any_leaves_the_subschemas(schema, dialect)
    suspects = {
        id(subschema)
        for subschema in subschemas(schema, dialect)
        for check in _checks(tuple(subschema), dialect)
        if any(check.find(subschema, dialect))
    }
    if leaves or suspects:
        for tokens, subschema in taking_part(schema, dialect):
            if leaves or id(subschema) in suspects:
                for lint in _defects(subschema, dialect):
                    where = pointer(tokens) + lint.pointer
                    found.add(Lint(code=lint.code, pointer=where))
    return sorted(found)


def _defects(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Lint]:
    """Yield the defects of one schema itself, pointers starting from it."""
    for check in _checks(tuple(schema), dialect):
        for tokens in check.find(schema, dialect):
            yield Lint(code=check.code, pointer=pointer(tokens))
