"""Lint checks of keywords without effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from curation.lint.contradictions import LintCheck, having
from curation.lint.liveness import (
    NEEDED_BESIDE,
    dead_names,
    lonely_keywords,
)
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

#: Keywords whose absence changes the accepted values.
_ASSERTING = (
    (frozenset(ANY_DIALECT.applicators) | ANY_DIALECT.assertions)
    - CONTAINERS
    - {"contentSchema"}
)
#: The first draft of each keyword, by its order.
_FIRST_DRAFT = {
    keyword: min(orders)
    for keyword in KNOWN_KEYWORDS - ANNOTATIONS - CONTAINERS - {"$vocabulary"}
    if (
        orders := [
            value.order for value in BY_NAME.values() if keyword in value.effective
        ]
    )
}
#: The keywords that do nothing in a dialect, by its name: later drafts', and
#: earlier ones'.
_NEWER = {
    name: frozenset(
        keyword for keyword, order in _FIRST_DRAFT.items() if order > dialect.order
    )
    for name, dialect in BY_NAME.items()
}
_OLDER = {
    name: frozenset(_FIRST_DRAFT) - _NEWER[name] - dialect.effective
    for name, dialect in BY_NAME.items()
}
#: These are keywords only if they hold a string.
_STRINGS = frozenset({"id", "$id", "$ref", "$anchor"})
#: Code of the lint of a word one slip away from a keyword.
MISSPELT = "misspelt-keyword"
_DEAD = frozenset({"_format", "_uniqueItems", "_id", "_$id"})
#: Marks that are taken for a part of a keyword's name.
_STRAY_MARK = re.compile(r"[#$@]+")
#: Shorter keywords have too many neighbours.
_SHORTEST = 5


def _type_excludes_keyword(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterable[Tokens]:
    if dialect.ref_hides_siblings and "$ref" in schema:
        return []
    dead = dead_names(schema)
    return [(name,) for name in schema if name in dead and name in dialect.effective]


def _strays(name: str, dialect: Dialect) -> bool:
    """Return whether a name is a keyword's but for a mark."""
    if name in KNOWN_KEYWORDS or name in _DEAD:
        return False
    keyword = _STRAY_MARK.sub("", name)
    is_keyword = keyword in dialect.effective or f"${keyword}" in dialect.effective
    return keyword != name and is_keyword and keyword not in CONTAINERS


def _among(schema: Mapping[str, Json], keywords: frozenset[str]) -> Iterable[Tokens]:
    return [
        (name,)
        for name, value in schema.items()
        if name in keywords and (name not in _STRINGS or isinstance(value, str))
    ]


def _ref_siblings(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    if not isinstance(schema["$ref"], str):
        return []
    return _among(schema, _ASSERTING & dialect.effective)


def _misspelt_keyword(schema: Mapping[str, Json], dialect: Dialect) -> Iterable[Tokens]:
    for name in schema.keys() - KNOWN_KEYWORDS - _DEAD:
        keyword = nearest(name)
        if (
            keyword is not None
            and keyword in dialect.effective
            and keyword not in schema
            and plausible(keyword, schema[name])
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
    for keyword in sorted(_ASSERTING | CONTAINERS):
        for slip in slips(keyword) if len(keyword) >= _SHORTEST else ():
            if slip not in KNOWN_KEYWORDS:
                neighbours.setdefault(slip, keyword)
    return neighbours


def plausible(keyword: str, value: Json) -> bool:
    """Return whether a value may be the one of a keyword."""
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


#: The checks of this module.
CHECKS: Final = (
    LintCheck(
        "type-excludes-keyword",
        "a keyword about values that the `type` beside it does not let through",
        lambda names, _: "type" in names and not names.isdisjoint(TYPE_OF_KEYWORD),
        _type_excludes_keyword,
    ),
    LintCheck(
        "stray-mark",
        "a keyword behind a mark that it does not have, such as `#ref` or `$type`: it "
        "is ignored",
        lambda names, dialect: any(_strays(name, dialect) for name in names),
        lambda schema, dialect: [(name,) for name in schema if _strays(name, dialect)],
    ),
    LintCheck(
        "newer-keyword",
        "a keyword that only a later draft knows: it is ignored",
        lambda names, dialect: bool(names & _NEWER[dialect.name]),
        lambda schema, dialect: _among(schema, _NEWER[dialect.name]),
    ),
    LintCheck(
        "older-keyword",
        "a keyword that only an earlier draft knew: it is ignored",
        lambda names, dialect: bool(names & _OLDER[dialect.name]),
        lambda schema, dialect: _among(schema, _OLDER[dialect.name]),
    ),
    LintCheck(
        "ref-siblings",
        "asserting keywords beside a `$ref`, which up to draft-07 hides them",
        lambda names, dialect: (
            dialect.ref_hides_siblings
            and "$ref" in names
            and bool(names & _ASSERTING & dialect.effective)
        ),
        _ref_siblings,
    ),
    LintCheck(
        "dead-keyword",
        "a keyword that a tool renamed so that it does nothing",
        having(*_DEAD),
        lambda schema, _: [(name,) for name in schema if name in _DEAD],
    ),
    LintCheck(
        "lonely-keyword",
        "a keyword that does nothing without another one, which is missing",
        having(*NEEDED_BESIDE),
        lambda schema, dialect: [
            (name,) for name in lonely_keywords(schema) if name in dialect.effective
        ],
    ),
    LintCheck(
        MISSPELT,
        "a word one slip away from a keyword, with a value that would fit it",
        lambda names, dialect: any(
            nearest(name) in dialect.effective for name in names
        ),
        _misspelt_keyword,
    ),
)
