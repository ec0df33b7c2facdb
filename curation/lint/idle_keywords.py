"""Lint checks of keywords without effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from curation.lint.contradictions import LintCheck, having
from curation.lint.liveness import NEEDED_BESIDE, excluded_by_type, lonely_keywords
from curation.schema.dialects import ANY_DIALECT, BY_NAME, Dialect
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    TYPE_OF_KEYWORD,
    Shape,
)
from curation.schema.misspellings import slips

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: Keywords whose absence changes what is accepted.
_ASSERTING = (
    (frozenset(ANY_DIALECT.applicators) | ANY_DIALECT.assertions)
    - CONTAINERS
    - {"contentSchema"}
)
_JUDGED = KNOWN_KEYWORDS - ANNOTATIONS - CONTAINERS - {"$vocabulary"}
#: These are keywords only if they hold a string.
_STRINGS = frozenset({"id", "$id", "$ref", "$anchor"})
#: Code of the lint of a word one slip away from a keyword.
MISSPELT = "misspelt-keyword"
_DEAD = frozenset({"_format", "_uniqueItems", "_id", "_$id"})
#: Marks that are taken for a part of a keyword's name.
_STRAY_MARK = re.compile(r"[#$@]+")
#: Shorter keywords have too many neighbours.
_SHORTEST = 5


def _silent(dialect: Dialect) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords that do nothing here: those of later drafts, of earlier."""
    later: set[str] = set()
    earlier: set[str] = set()
    for keyword in _JUDGED - dialect.effective:
        orders = [
            other.order for other in BY_NAME.values() if keyword in other.effective
        ]
        if orders:
            (later if min(orders) > dialect.order else earlier).add(keyword)
    return frozenset(later), frozenset(earlier)


_SILENT = {name: _silent(dialect) for name, dialect in BY_NAME.items()}


def _is_keyword(name: str, value: Json) -> bool:
    return name not in _STRINGS or isinstance(value, str)


def _among(schema: Mapping[str, Json], keywords: frozenset[str]) -> Iterable[Tokens]:
    return [
        (name,)
        for name, value in schema.items()
        if name in keywords and _is_keyword(name, value)
    ]


def _siblings(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    if not isinstance(schema.get("$ref"), str):
        return []
    return _among(schema, _hidden_by_ref(dialect))


def _hidden_by_ref(dialect: Dialect) -> frozenset[str]:
    if not dialect.ref_hides_siblings:
        return frozenset()
    return _ASSERTING & dialect.effective


def _lonely(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    return [(name,) for name in lonely_keywords(schema) if name in dialect.effective]


def _misspelt(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    for name in schema.keys() - KNOWN_KEYWORDS - _DEAD:
        keyword = nearest(name)
        if (
            keyword is not None
            and keyword in dialect.effective
            and keyword not in schema
            and _plausible(keyword, schema[name])
        ):
            yield (name,)


def nearest(name: str) -> str | None:
    """Return the keyword that a member's name is one slip away from, or None.

    Example:
        >>> nearest("requird")
        'required'
    """
    if name in KNOWN_KEYWORDS:
        return None
    return _slips().get(name) or _slips().get(name.lower())


@cache
def _slips() -> Mapping[str, str]:
    neighbours: dict[str, str] = {}
    keywords = _ASSERTING | CONTAINERS
    for keyword in sorted(keywords):
        if len(keyword) < _SHORTEST:
            continue
        for slip in slips(keyword):
            if slip not in KNOWN_KEYWORDS:
                neighbours.setdefault(slip, keyword)
    return neighbours


def _plausible(keyword: str, value: Json) -> bool:
    shape = ANY_DIALECT.applicators.get(keyword)
    if keyword in ("required", "enum"):
        return isinstance(value, list | bool)
    if keyword == "pattern":
        return isinstance(value, str)
    if keyword == "uniqueItems":
        return isinstance(value, bool)
    if keyword == "const":
        return True
    if keyword == "dependentRequired":
        return isinstance(value, dict) and all(
            isinstance(member, list) for member in value.values()
        )
    if shape is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number or (keyword.startswith("exclusive") and isinstance(value, bool))
    if shape is Shape.SCHEMA:
        return isinstance(value, dict | bool)
    if shape is Shape.SCHEMAS:
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)
    if shape is Shape.EITHER:
        return isinstance(value, dict | list)
    kinds = dict | list if shape is Shape.DEPENDENCIES else dict
    return isinstance(value, dict) and all(
        isinstance(member, kinds) for member in value.values()
    )


def _strays(name: str, dialect: Dialect) -> bool:
    """Return whether a name is a keyword's but for a mark."""
    if name in KNOWN_KEYWORDS or name in _DEAD:
        return False
    keyword = _STRAY_MARK.sub("", name)
    is_keyword = keyword in dialect.effective or f"${keyword}" in dialect.effective
    return keyword != name and is_keyword and keyword not in CONTAINERS


CHECKS = (
    LintCheck(
        code="type-excludes-keyword",
        meaning="a keyword about values that the `type` beside it does not let through",
        concerns=lambda names, _: (
            "type" in names and not names.isdisjoint(TYPE_OF_KEYWORD)
        ),
        find=excluded_by_type,
    ),
    LintCheck(
        code="stray-mark",
        meaning="a keyword behind a mark that it does not have, such as `#ref` or "
        "`$type`: it is ignored",
        concerns=lambda names, dialect: any(_strays(name, dialect) for name in names),
        find=lambda schema, dialect: [
            (name,) for name in schema if _strays(name, dialect)
        ],
    ),
    LintCheck(
        code="newer-keyword",
        meaning="a keyword that only a later draft knows: it is ignored",
        concerns=lambda names, dialect: bool(names & _SILENT[dialect.name][0]),
        find=lambda schema, dialect: _among(schema, _SILENT[dialect.name][0]),
    ),
    LintCheck(
        code="older-keyword",
        meaning="a keyword that only an earlier draft knew: it is ignored",
        concerns=lambda names, dialect: bool(names & _SILENT[dialect.name][1]),
        find=lambda schema, dialect: _among(schema, _SILENT[dialect.name][1]),
    ),
    LintCheck(
        code="ref-siblings",
        meaning="asserting keywords beside a `$ref`, which up to draft-07 hides them",
        concerns=lambda names, dialect: (
            "$ref" in names and bool(names & _hidden_by_ref(dialect))
        ),
        find=_siblings,
    ),
    LintCheck(
        code="dead-keyword",
        meaning="a keyword that a tool renamed so that it does nothing",
        concerns=having(*_DEAD),
        find=lambda schema, _: [(name,) for name in schema if name in _DEAD],
    ),
    LintCheck(
        code="lonely-keyword",
        meaning="a keyword that does nothing without another one, which is missing",
        concerns=having(*NEEDED_BESIDE),
        find=_lonely,
    ),
    LintCheck(
        code=MISSPELT,
        meaning="a word one slip away from a keyword, with a value that would fit it",
        concerns=lambda names, dialect: any(
            nearest(name) in dialect.effective for name in names
        ),
        find=_misspelt,
    ),
)
