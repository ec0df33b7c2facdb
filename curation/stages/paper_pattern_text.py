"""Escape what the authors escaped in regular expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curation.documents import ABSENT, Change, Json
from curation.json_walk import objects, searchable, tokens
from curation.jsontext import write
from curation.rules import Rule
from curation.schema_walk import pointer, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.documents import Document
    from curation.rules import Context
    from curation.schema_walk import Tokens

NAME = "paper-pattern-text"
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_UP_TO = re.compile(r"\{(?=,\d+\})")
#: A pattern without any of these needs no look.
_SUSPECT = re.compile(r"\\0|\{(?!\d)|\{\d*(?![\d,}])|\[[^\]]*\[")


#: No text that lacks both holds a pattern.
_SIGNS = (b'"pattern":"', b'"patternProperties":{')


def _escaped(pattern: str) -> str:
    """Return a pattern's text as published."""
    bare = _ESCAPED.sub("", pattern)
    balanced = bare.count("[") == bare.count("]")
    parts: list[str] = []
    in_class, position = False, 0
    while position < len(pattern):
        each, taken = pattern[position], 1
        if each == "\\":
            part = pattern[position : position + 2]
            each, taken = ("\0" if part == "\\0" else part), len(part)
        elif in_class:
            in_class = each != "]"
            each = "\\[" if each == "[" and not balanced else each
        elif each == "[":
            in_class = True
        elif each == "{" and _UP_TO.match(pattern, position):
            each = "{0"
        elif each == "{" and not _QUANTIFIER.match(pattern, position):
            each = "\\{"
        parts.append(each)
        position += taken
    return "".join(parts)


def _mended(pattern: str) -> str:
    return _escaped(pattern) if _SUSPECT.search(pattern) else pattern


def _edits(schema: Json) -> Iterator[tuple[Tokens, str, str]]:
    """Yield where a pattern changes, and its text before and after.

    Innermost first, so that a renamed key never stands above a later edit.
    """
    found: list[tuple[Tokens, str, str]] = []
    for trail, each in objects(schema):
        patterns: list[tuple[Tokens, Json]] = [(("pattern",), each.get("pattern"))]
        keyed = each.get("patternProperties")
        if isinstance(keyed, dict):
            patterns += [(("patternProperties", name), name) for name in keyed]
        for place, pattern in patterns:
            if isinstance(pattern, str) and (right := _mended(pattern)) != pattern:
                found.append(((*tokens(trail), *place), pattern, right))
    return reversed(found)


def _renamed(schema: Json, place: Tokens, right: str) -> tuple[Json, Json]:
    """Return the schema with one key of an object renamed, and the member's value."""
    *above, name = place
    members = schema
    for token in above:
        members = members[int(token) if isinstance(members, list) else token]
    value = members[name]
    renamed = {(right if key == name else key): each for key, each in members.items()}
    return replaced(schema, tuple(above), renamed), value


def _apply(document: Document, _context: Context) -> Document:
    schema: Json = document.schema
    changes: list[Change] = []
    text = searchable(schema)
    if not any(sign in text for sign in _SIGNS):
        return document
    for place, pattern, right in _edits(schema):
        if place[-1] == "pattern" and place[-2:-1] != ("patternProperties",):
            schema = replaced(schema, place, right)
            steps = [(place, write(pattern), write(right))]
        else:
            schema, value = _renamed(schema, place, right)
            new = (*place[:-1], right)
            steps = [(place, write(value), ABSENT), (new, ABSENT, write(value))]
        changes += [
            Change(rule=NAME, pointer=pointer(where), before=before, after=after)
            for where, before, after in steps
        ]
    return document.changed(schema, changes) if changes else document


RULE = Rule(
    name=NAME,
    summary="In patterns, a `[` inside an unbalanced class and a `{` that starts no "
    "quantifier are escaped, `{,n}` becomes `{0,n}` and `\\0` the character U+0000.",
    source="JSONSchemaBench paper, section 3.1 (schemas are standardized); 11 GitHub "
    "records",
    positions={"paper": 70},
    apply=_apply,
)
