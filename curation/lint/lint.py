"""What is wrong with a schema and stays: every defect that is flagged by a code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from curation.core.documents import Lint
from curation.json.pointer import pointer
from curation.lint import contradictions, idle_keywords
from curation.lint.non_object_roots import accepts_every_non_object
from curation.references.reachable import leaves_the_subschemas, taking_part
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.subschemas import subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from curation.lint.check import LintCheck
    from curation.schema.dialects import Dialect

#: Every check of one schema, in the order in which codes are listed.
CHECKS = (*idle_keywords.CHECKS, *contradictions.CHECKS)
_NON_OBJECT_ROOT = "non-object-root"
#: Every code that `lints` can give, with its meaning.
CODES: Mapping[str, str] = {
    **{each.code: each.meaning for each in CHECKS},
    _NON_OBJECT_ROOT: "the root accepts every value that is no object",
}
_ALWAYS = tuple(each for each in CHECKS if each.words is None)
_WORDS = frozenset[str]().union(*(each.words or () for each in CHECKS))


@lru_cache(maxsize=4096)
def _checks(words: frozenset[str]) -> tuple[LintCheck, ...]:
    """Return the checks that any of these words calls for."""
    return tuple(e for e in CHECKS if e.words and not e.words.isdisjoint(words))


def lints(schema: UntypedJson, dialect: Dialect) -> list[Lint]:
    """Return the defects of a schema under its dialect, sorted by code and place."""
    found: set[Lint] = set()
    if accepts_every_non_object(schema, dialect):
        found.add(Lint(code=_NON_OBJECT_ROOT, pointer=""))
    suspect = any(
        leaves_the_subschemas(each, dialect) or any(_strikes(each, dialect))
        for each in subschemas(schema, dialect)
    )
    if suspect:
        for tokens, each in taking_part(schema, dialect):
            for lint in _strikes(each, dialect):
                where = pointer(tokens) + lint.pointer
                found.add(Lint(code=lint.code, pointer=where))
    return sorted(found)


def _strikes(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterator[Lint]:
    """Yield the defects of one schema itself, pointers starting from it."""
    words = _WORDS.intersection(schema)
    checks = _checks(words) if words else ()
    if not schema.keys() <= KNOWN_KEYWORDS:
        checks += _ALWAYS
    for check in checks:
        for tokens in check.strikes(schema, dialect):
            yield Lint(code=check.code, pointer=pointer(tokens))
