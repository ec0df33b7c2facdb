"""Escape what the authors escaped in regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from curation.core.json_types import UntypedJson
from curation.core.rule import ABSENT, Change, Context, Document, Json, Rule
from curation.json.pointer import Put, Tokens, at, change_at, replaced, rewritten
from curation.json.values import objects, searchable, tokens
from curation.rules.paper.rebuild import DRAFT_07, declared, failure

NAME = "paper-pattern-text"
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_UP_TO = re.compile(r"\{(?=,\d+\})")
#: A pattern without any of these needs no look.
_SUSPECT = re.compile(r"\\0|\{(?!\d)|\{\d*(?![\d,}])|\[[^\]]*\[")


#: No text that lacks both holds a pattern.
_SIGNS = (b'"pattern":"', b'"patternProperties":{')


def _escaped(pattern: str) -> str:
    bare = _ESCAPED.sub("", pattern)
    balanced = bare.count("[") == bare.count("]")
    parts: list[str] = []
    in_class, position = False, 0
    while position < len(pattern):
        piece, length = pattern[position], 1
        if piece == "\\":
            part = pattern[position : position + 2]
            piece, length = ("\0" if part == "\\0" else part), len(part)
        elif in_class:
            in_class = piece != "]"
            piece = "\\[" if piece == "[" and not balanced else piece
        elif piece == "[":
            in_class = True
        elif piece == "{" and _UP_TO.match(pattern, position):
            piece = "{0"
        elif piece == "{" and not _QUANTIFIER.match(pattern, position):
            piece = "\\{"
        parts.append(piece)
        position += length
    return "".join(parts)


def _mended(pattern: str) -> str:
    return _escaped(pattern) if _SUSPECT.search(pattern) else pattern


@dataclass(frozen=True, slots=True)
class _Edit:
    """One pattern that changes: a value under `pattern`, or a member's name."""

    place: Tokens
    before: str
    after: str
    is_name: bool


def _edits(schema: Json) -> Iterator[_Edit]:
    """Yield what changes, innermost first: a new name never stands above an edit."""
    edits: list[_Edit] = []
    for trail, subschema in objects(schema):
        keyed = subschema.get("patternProperties")
        names = list(keyed) if isinstance(keyed, dict) else []
        patterns: list[tuple[Tokens, Json, bool]]
        patterns = [(("pattern",), subschema.get("pattern"), False)]
        patterns += [(("patternProperties", name), name, True) for name in names]
        for place, pattern, is_name in patterns:
            if isinstance(pattern, str) and (right := _mended(pattern)) != pattern:
                edits.append(_Edit((*tokens(trail), *place), pattern, right, is_name))
    return reversed(edits)


def _renamed(schema: Json, place: Tokens, right: str) -> tuple[Json, Json]:
    above, name = place[:-1], place[-1]
    members = at(schema, above)
    if not isinstance(members, dict):
        raise TypeError(place)
    renamed = {
        (right if key == name else key): member for key, member in members.items()
    }
    return replaced(schema, above, renamed), members[name]


def _apply(document: Document, _context: Context) -> Document:
    schema: UntypedJson = document.schema
    changes: list[Change] = []
    text = searchable(schema)
    if not any(sign in text for sign in _SIGNS):
        return document
    edits = list(_edits(schema))
    values = {it.place: Put(it.after) for it in edits if not it.is_name}
    schema = rewritten(schema, values)
    for edit in edits:
        if edit.is_name:
            schema, value = _renamed(schema, edit.place, edit.after)
            new = (*edit.place[:-1], edit.after)
            changes += [
                change_at(NAME, edit.place, value, ABSENT),
                change_at(NAME, new, ABSENT, value),
            ]
        else:
            changes.append(change_at(NAME, edit.place, edit.before, edit.after))
    if not changes:
        return document
    mended = document.changed(schema, changes)
    if (
        "$schema" not in schema
        or failure(document.schema) is None
        or failure(schema) is not None
    ):
        return mended
    # The authors' validator refused it first, and they tried another draft.
    return declared(mended, DRAFT_07, rule=NAME)


RULE = Rule(
    name=NAME,
    summary="In patterns, a `[` inside an unbalanced class and a `{` that starts no "
    "quantifier are escaped, `{,n}` becomes `{0,n}` and `\\0` the character U+0000. "
    "What jsonschema-rs can build only then is declared draft-07.",
    source="JSONSchemaBench paper, section 3.1 (schemas are standardized); 11 GitHub "
    "records",
    apply=_apply,
)
