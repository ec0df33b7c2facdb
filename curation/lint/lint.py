"""Lints: defects that stay in a schema, each flagged by a code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from curation.core.documents import Lint
from curation.json.pointer import pointer
from curation.lint.contradictions import (
    CONTRADICTIONS,
    FORMATS,
    LOWER_BOUNDS,
    TABLES,
    FindDefects,
    allows,
)
from curation.lint.liveness import NEEDED_BESIDE, dead_names, lonely_keywords
from curation.references.reachable import ALL_TYPES, accepted_types, taking_part
from curation.references.schema import schema_of
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS, Dialect
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    TYPE_OF_KEYWORD,
    Shape,
)
from curation.schema.misspellings import slips
from curation.schema.roots import constrains, looks_like_a_schema
from curation.validation.metaschemas import is_valid
from curation.validation.patterns import is_prone

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: Every code that `lints` can give, with its meaning.
CODES: Final[Mapping[str, str]] = TABLES["lints"]
#: Codes of lints that `csbdata check` treats in its way.
UNKNOWN_FORMAT: Final = "unknown-format"
MISSPELT: Final = "misspelt-keyword"
NON_OBJECT_ROOT: Final = "non-object-root"
OUTSIDE: Final = "content-outside-properties"

#: Keywords whose absence changes what is accepted.
_ASSERTING: Final = (
    (frozenset(ANY_DIALECT.applicators) | ANY_DIALECT.assertions)
    - CONTAINERS
    - {"contentSchema"}
)
#: The keywords that do nothing in a dialect, by its name: those of later drafts, and
#: those of earlier ones.
_DRAFTED: Final = ANY_DIALECT.effective - ANNOTATIONS - CONTAINERS - {"$vocabulary"}
_NEWER: Final = {
    dialect.name: _DRAFTED.difference(
        *(other.effective for other in BY_NAME.values() if other.order <= dialect.order)
    )
    for dialect in BY_NAME.values()
}
_OLDER: Final = {
    name: _DRAFTED - _NEWER[name] - dialect.effective
    for name, dialect in BY_NAME.items()
}
#: These are keywords only if they hold a string.
_STRINGS: Final = frozenset({"id", "$id", "$ref", "$anchor"})
#: Marks that are taken for a part of a keyword's name.
_STRAY_MARK: Final = re.compile(r"[#$@]+")
#: Shorter keywords have too many neighbours.
_SHORTEST: Final = 5
#: Control characters, and those that change the direction of text.
_HOSTILE: Final = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]"
    r"|^(__proto__|constructor|prototype)\Z"
)
_LONGEST_NAME: Final = 1_000
#: Keywords by which a root does describe its content.
_DESCRIBING: Final = {
    keyword
    for keyword, shape in ANY_DIALECT.applicators.items()
    if shape is not Shape.MAP or TYPE_OF_KEYWORD.get(keyword) == "object"
} - {"type"} | {"$ref", "enum", "const"}


def _among(schema: Mapping[str, Json], keywords: Iterable[str]) -> list[Tokens]:
    return [
        (name,)
        for name in schema.keys() & keywords
        if name not in _STRINGS or isinstance(schema[name], str)
    ]


def _ref_siblings(schema: Mapping[str, Json], dialect: Dialect) -> list[Tokens]:
    is_hiding = dialect.ref_hides_siblings and isinstance(schema.get("$ref"), str)
    return _among(schema, _ASSERTING & dialect.effective) if is_hiding else []


def _stray_mark(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Tokens]:
    for name in schema.keys() - KNOWN_KEYWORDS:
        keyword = _STRAY_MARK.sub("", name)
        is_keyword = not dialect.effective.isdisjoint({keyword, f"${keyword}"})
        if keyword != name and is_keyword and keyword not in CONTAINERS:
            yield (name,)


def _misspelt_keyword(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Tokens]:
    for name in schema.keys() - KNOWN_KEYWORDS:
        keyword = nearest(name)
        if (
            keyword in dialect.effective
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
    """Return whether a value may be the one of a keyword, in a draft that knows it."""
    is_draft_03 = keyword == "required" and isinstance(value, bool)
    return is_draft_03 or any(
        is_valid({keyword: value}, dialect)
        for dialect in DIALECTS
        if keyword in dialect.effective
    )


def _redos_pattern(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    pattern, names = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str) and is_prone(pattern):
        yield ("pattern",)
    for name in names if isinstance(names, dict) else ():
        if is_prone(name):
            yield ("patternProperties", name)


def _hostile_name(schema: Mapping[str, Json], _dialect: Dialect) -> Iterator[Tokens]:
    names = schema.get("properties")
    for name in names if isinstance(names, dict) else ():
        if len(name) > _LONGEST_NAME or _HOSTILE.search(name):
            yield ("properties", name)


def _unknown_format(schema: Mapping[str, Json], _dialect: Dialect) -> list[Tokens]:
    name = schema.get("format")
    return [("format",)] if isinstance(name, str) and name not in FORMATS else []


def _format_without_string(
    schema: Mapping[str, Json], _dialect: Dialect
) -> list[Tokens]:
    name = schema.get("format")
    is_known = isinstance(name, str) and name in FORMATS
    return [("format",)] if is_known and not allows(schema, "string") else []


#: By its code, where a schema has each defect.
_CHECKS: Final[Mapping[str, FindDefects]] = {
    "stray-mark": _stray_mark,
    "newer-keyword": lambda schema, dialect: _among(schema, _NEWER[dialect.name]),
    "older-keyword": lambda schema, dialect: _among(schema, _OLDER[dialect.name]),
    "ref-siblings": _ref_siblings,
    "lonely-keyword": lambda schema, dialect: (
        (name,) for name in lonely_keywords(schema) if name in dialect.effective
    ),
    MISSPELT: _misspelt_keyword,
    UNKNOWN_FORMAT: _unknown_format,
    "format-without-string": _format_without_string,
    "redos-pattern": _redos_pattern,
    "hostile-name": _hostile_name,
}
#: With those of keywords that a `$ref` beside them hides.
_ALL_CHECKS: Final[Mapping[str, FindDefects]] = {
    **_CHECKS,
    **CONTRADICTIONS,
    "type-excludes-keyword": lambda schema, dialect: (
        (name,) for name in dead_names(schema) & dialect.effective
    ),
}
#: A check of these finds nothing in a schema without one of the keywords; any other,
#: nothing in a schema whose members are all known.
_NEEDED: Final[Mapping[str, Iterable[str]]] = {
    "newer-keyword": frozenset().union(*_NEWER.values()),
    "older-keyword": frozenset().union(*_OLDER.values()),
    "ref-siblings": {"$ref"},
    "lonely-keyword": NEEDED_BESIDE,
    UNKNOWN_FORMAT: {"format"},
    "format-without-string": {"format"},
    "redos-pattern": {"pattern", "patternProperties"},
    "hostile-name": {"properties"},
    "enum-type-conflict": {"enum", "const"},
    "required-forbidden": {"required"},
    "crossed-bounds": LOWER_BOUNDS,
    "type-excludes-keyword": TYPE_OF_KEYWORD,
}


@lru_cache(maxsize=4096)
def _checks(
    names: tuple[str, ...], *, is_hidden: bool
) -> tuple[tuple[str, FindDefects], ...]:
    """Return the checks that may find something in a schema with these members."""
    unknown = frozenset(names) - KNOWN_KEYWORDS
    return tuple(
        (code, find)
        for code, find in (_CHECKS if is_hidden else _ALL_CHECKS).items()
        if not frozenset(names).isdisjoint(_NEEDED.get(code, unknown))
    )


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
        for name in root.keys() - KNOWN_KEYWORDS:
            if isinstance(root[name], dict) and constrains(root[name]):
                yield name


def lints(schema: Json, dialect: Dialect) -> list[Lint]:
    """Return the defects of a schema under its dialect, sorted by code and pointer.

    Example:
        >>> lints({"minimum": 2, "maximum": 1}, DRAFT_07)
        [Lint(code='crossed-bounds', pointer='/minimum')]
    """
    defects = {
        Lint(OUTSIDE, pointer((name,))) for name in _members_outside_properties(schema)
    }
    with suppress(RecursionError):
        if accepted_types(schema_of(schema, dialect)) >= ALL_TYPES - {"object"}:
            defects.add(Lint(NON_OBJECT_ROOT, ""))
    for location in taking_part(schema, dialect):
        part = location.keywords
        is_hidden = dialect.ref_hides_siblings and "$ref" in part
        for code, find in _checks(tuple(part), is_hidden=is_hidden):
            for tokens in find(part, dialect):
                defects.add(Lint(code, location.pointer + pointer(tokens)))
    return sorted(defects)
