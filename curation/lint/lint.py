"""Lints: defects that stay in a schema, each flagged by a code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final

from curation.core.documents import Lint
from curation.json.pointer import pointer
from curation.lint.contradictions import FORMATS, TABLES, allows, contradictions
from curation.lint.liveness import dead_names, lonely_keywords
from curation.references.reachable import ALL_TYPES, accepted_types, taking_part
from curation.references.schema import to_schema
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
_MAX_NAME: Final = 1_000
#: Keywords by which a root does describe its content.
_DESCRIBING: Final = {
    keyword
    for keyword, shape in ANY_DIALECT.applicators.items()
    if shape is not Shape.MAP or TYPE_OF_KEYWORD.get(keyword) == "object"
} - {"type"} | {"$ref", "enum", "const"}


def nearest(name: str) -> str:
    """Return the keyword that an unknown word is one slip away from, or nothing.

    Example:
        >>> nearest("requird")
        'required'
    """
    return _slips().get(name) or _slips().get(name.lower(), "")


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


def _is_hostile(name: str) -> bool:
    return len(name) > _MAX_NAME or _HOSTILE.search(name) is not None


#: Of each map, the code of a name for which the function is true.
_NAMES: Final = (
    ("patternProperties", "redos-pattern", is_prone),
    ("properties", "hostile-name", _is_hostile),
)


def _defects(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterator[tuple[str, Tokens]]:
    """Yield the code of each defect of a schema object, with tokens inside it."""
    yield from _idle_keywords(schema, dialect)
    yield from _unknown_words(schema, dialect)
    form, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(form, str) and form not in FORMATS:
        yield UNKNOWN_FORMAT, ("format",)
    elif isinstance(form, str) and not allows(schema, "string"):
        yield "format-without-string", ("format",)
    if isinstance(pattern, str) and is_prone(pattern):
        yield "redos-pattern", ("pattern",)
    for keyword, code, is_bad in _NAMES:
        names = schema.get(keyword)
        for name in names if isinstance(names, dict) else ():
            if is_bad(name):
                yield code, (keyword, name)


def _idle_keywords(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterator[tuple[str, Tokens]]:
    """Yield the keywords that do nothing, and what contradicts others."""
    idle = {
        "newer-keyword": _NEWER[dialect.name],
        "older-keyword": _OLDER[dialect.name],
        "lonely-keyword": dialect.effective.intersection(lonely_keywords(schema)),
    }
    if not (dialect.ref_hides_siblings and "$ref" in schema):
        yield from contradictions(schema, dialect)
        idle["type-excludes-keyword"] = dead_names(schema) & dialect.effective
    elif isinstance(schema["$ref"], str):
        idle["ref-siblings"] = _ASSERTING & dialect.effective
    for code, names in idle.items():
        for name in names.intersection(schema):
            if name not in _STRINGS or isinstance(schema[name], str):
                yield code, (name,)


def _unknown_words(
    schema: Mapping[str, Json], dialect: Dialect
) -> Iterator[tuple[str, Tokens]]:
    """Yield the words that are no keyword, and nearly one."""
    for name in schema:
        if name in KNOWN_KEYWORDS:
            continue
        unmarked, keyword = _STRAY_MARK.sub("", name), nearest(name)
        is_keyword = not dialect.effective.isdisjoint({unmarked, f"${unmarked}"})
        if unmarked != name and is_keyword and unmarked not in CONTAINERS:
            yield "stray-mark", (name,)
        if (
            keyword in dialect.effective
            and keyword not in schema
            and plausible(keyword, schema[name])
        ):
            yield MISSPELT, (name,)


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
        if accepted_types(to_schema(schema, dialect)) >= ALL_TYPES - {"object"}:
            defects.add(Lint(NON_OBJECT_ROOT, ""))
    for location in taking_part(schema, dialect):
        for code, tokens in _defects(location.keywords, dialect):
            defects.add(Lint(code, location.pointer + pointer(tokens)))
    return sorted(defects)
