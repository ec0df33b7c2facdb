"""Lint checks of keywords that are there and do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.lint.check import LintCheck
from curation.schema.dialects import ANY_DIALECT, BY_NAME, Dialect
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens

#: Keywords whose absence changes what is accepted.
_ASSERTING = (
    (frozenset(ANY_DIALECT.applicators) | ANY_DIALECT.assertions)
    - CONTAINERS
    - {"contentSchema"}
)
_JUDGED = KNOWN_KEYWORDS - ANNOTATIONS - CONTAINERS - {"$vocabulary"}
#: These are keywords only as strings.
_STRINGS = frozenset({"id", "$id", "$ref", "$anchor"})
_DEAD = frozenset({"_format", "_uniqueItems", "_id", "_$id"})
#: A keyword to the one without which it does nothing.
_COMPANIONS = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
    "additionalItems": "items",
}
#: Shorter keywords have too many neighbours.
_SHORTEST = 5


def _silent(dialect: Dialect) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords that do nothing here: those of later drafts, of earlier."""
    later: set[str] = set()
    earlier: set[str] = set()
    for word in _JUDGED - dialect.effective:
        orders = [e.order for e in BY_NAME.values() if word in e.effective]
        if orders:
            (later if min(orders) > dialect.order else earlier).add(word)
    return frozenset(later), frozenset(earlier)


_SILENT = {name: _silent(dialect) for name, dialect in BY_NAME.items()}


def _is_keyword(word: str, value: UntypedJson) -> bool:
    return word not in _STRINGS or isinstance(value, str)


def _newer(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterable[Tokens]:
    silent = _SILENT[dialect.name][0]
    return [(e,) for e in schema if e in silent and _is_keyword(e, schema[e])]


def _older(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterable[Tokens]:
    silent = _SILENT[dialect.name][1]
    return [(e,) for e in schema if e in silent and _is_keyword(e, schema[e])]


def _siblings(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterable[Tokens]:
    if not dialect.ref_hides_siblings or not isinstance(schema.get("$ref"), str):
        return []
    return [(each,) for each in schema if each in _ASSERTING & dialect.effective]


def _dead(schema: Mapping[str, UntypedJson], _dialect: Dialect) -> Iterable[Tokens]:
    return [(each,) for each in schema if each in _DEAD]


def _lonely(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterable[Tokens]:
    for word, companion in _COMPANIONS.items():
        if word not in schema or word not in dialect.effective:
            continue
        idle = companion not in schema
        if word == "additionalItems":
            idle = not isinstance(schema.get(companion), list)
        if idle:
            yield (word,)


def _misspelt(schema: Mapping[str, UntypedJson], dialect: Dialect) -> Iterable[Tokens]:
    for word in schema.keys() - KNOWN_KEYWORDS - _DEAD:
        meant = nearest(word)
        if (
            meant is not None
            and meant in dialect.effective
            and meant not in schema
            and _plausible(meant, schema[word])
        ):
            yield (word,)


def nearest(word: str) -> str | None:
    """Return the keyword that a word is one slip away from, or None.

    A slip is a letter too many, too few, wrong or in the wrong order, or letters
    in the wrong case.
    """
    if word in KNOWN_KEYWORDS:
        return None
    return _SLIPS.get(word) or _SLIPS.get(word.lower())


def _slips(keyword: str) -> Iterable[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield keyword.lower()
    for index in range(len(keyword) + 1):
        head, tail = keyword[:index], keyword[index:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in letters:
            yield head + letter + tail[1:]
            yield head + letter + tail


def _neighbourhood() -> Mapping[str, str]:
    """Return every slip of every keyword that is not itself a word of its own."""
    found: dict[str, str] = {}
    keywords = _ASSERTING | CONTAINERS
    for keyword in sorted(keywords):
        if len(keyword) < _SHORTEST:
            continue
        for slip in _slips(keyword):
            if slip not in KNOWN_KEYWORDS:
                found.setdefault(slip, keyword)
    return found


_SLIPS = _neighbourhood()


def _plausible(keyword: str, value: UntypedJson) -> bool:
    """Tell whether a value has the shape that the keyword wants."""
    shape = ANY_DIALECT.applicators.get(keyword)
    if keyword in ("required", "enum"):
        return isinstance(value, list | bool)
    if keyword == "pattern":
        return isinstance(value, str)
    if keyword == "uniqueItems":
        return isinstance(value, bool)
    if keyword == "const":
        return True
    if shape is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number or (keyword.startswith("exclusive") and isinstance(value, bool))
    if shape is Shape.SCHEMA:
        return isinstance(value, dict | bool)
    if shape is Shape.SCHEMAS:
        return isinstance(value, list) and all(isinstance(e, dict) for e in value)
    if shape is Shape.EITHER:
        return isinstance(value, dict | list)
    return isinstance(value, dict) and all(isinstance(e, dict) for e in value.values())


CHECKS = (
    LintCheck(
        code="newer-keyword",
        meaning="a keyword that only a later draft knows: it is ignored",
        words=frozenset().union(*(later for later, _ in _SILENT.values())),
        strikes=_newer,
    ),
    LintCheck(
        code="older-keyword",
        meaning="a keyword that only an earlier draft knew: it is ignored",
        words=frozenset().union(*(earlier for _, earlier in _SILENT.values())),
        strikes=_older,
    ),
    LintCheck(
        code="ref-siblings",
        meaning="asserting keywords beside a `$ref`, which up to draft-07 hides them",
        words=frozenset({"$ref"}),
        strikes=_siblings,
    ),
    LintCheck(
        code="dead-keyword",
        meaning="a keyword that a tool renamed so that it does nothing",
        words=_DEAD,
        strikes=_dead,
    ),
    LintCheck(
        code="lonely-keyword",
        meaning="a keyword that does nothing without another one, which is missing",
        words=frozenset(_COMPANIONS),
        strikes=_lonely,
    ),
    LintCheck(
        code="misspelt-keyword",
        meaning="a word one slip away from a keyword, with a value that would fit it",
        words=None,
        strikes=_misspelt,
    ),
)
