"""Let every pattern be ECMA-262 with the `u` flag."""

from __future__ import annotations

from collections.abc import Iterator

from curation.core.rule import Change, Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import (
    Put,
    Tokens,
    at,
    change_at,
    pointer,
    replaced,
    rewritten,
)
from curation.references.closure import closure_of
from curation.references.reachable import any_leaves_the_subschemas, taking_part
from curation.references.schema import schema_of
from curation.schema.dialects import BY_NAME, Dialect
from curation.schema.subschemas import subschemas
from curation.validation.patterns import pattern_verdict

_NAME = "patterns"
_NAMES = "patternProperties"
_SHOWN = 120


def _apply(document: Document, _context: Context) -> Document | Rejected:
    dialect = BY_NAME[document.dialect or "2020-12"]
    if not _concerned(document.schema, dialect):
        return document
    values: dict[Tokens, Put] = {}
    named: dict[Tokens, None] = {}
    changes: list[Change] = []
    for tokens, schema in taking_part(document.schema, dialect):
        for path, pattern in _patterns(schema):
            verdict = pattern_verdict(pattern)
            if verdict.pattern is None:
                detail = f"{pattern[:_SHOWN]!r} is no ECMA-262 pattern: {verdict.note}"
                return _rejected(tokens + path, detail)
            if verdict.pattern == pattern:
                continue
            place = tokens + path
            changes.append(
                change_at(_NAME, place, pattern, verdict.pattern, verdict.note)
            )
            if len(path) == 1:
                values[tokens + path] = Put(verdict.pattern)
            else:
                named[(*tokens, _NAMES)] = None
    repaired = rewritten(document.schema, values)
    if not named:
        return document.changed(repaired, changes)
    renamed = _renamed(repaired, named, dialect)
    if isinstance(renamed, Rejected):
        return renamed
    return document.changed(renamed, changes)


def _concerned(schema: Json, dialect: Dialect) -> bool:
    return any_leaves_the_subschemas(schema, dialect) or any(
        pattern_verdict(pattern).pattern != pattern
        for subschema in subschemas(schema, dialect)
        if "pattern" in subschema or _NAMES in subschema
        for _, pattern in _patterns(subschema)
    )


def _patterns(schema: Json) -> Iterator[tuple[Tokens, str]]:
    if not isinstance(schema, dict):
        return
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ("pattern",), pattern
    names = schema.get(_NAMES)
    if isinstance(names, dict):
        for name in names:
            yield (_NAMES, name), name


def _renamed(
    schema: Json, named: dict[Tokens, None], dialect: Dialect
) -> Json | Rejected:
    """Give the members of `patternProperties` their repaired names, innermost first."""
    for tokens in sorted(named, key=len, reverse=True):
        before = at(schema, tokens)
        if not isinstance(before, dict):
            continue
        after: dict[str, Json] = {
            pattern_verdict(name).pattern or name: subschema
            for name, subschema in before.items()
        }
        if len(after) != len(before):
            return _rejected(tokens, "two patterns are the same once they are mended")
        schema = replaced(schema, tokens, after)
    closure = closure_of(schema_of(schema, dialect))
    if isinstance(closure, Rejected):
        return _rejected((), f"a reference names a pattern: {closure.detail}")
    return schema


def _rejected(tokens: Tokens, what: str) -> Rejected:
    where = pointer(tokens)
    detail = f"{where or '(root)'}: {what}"
    return Rejected(reason=Reason.BAD_PATTERN, detail=detail, pointer=where)


RULE = Rule(
    name=_NAME,
    summary="Patterns and the names of `patternProperties` are ECMA-262 with the `u` "
    "flag: mended where the looser grammar gives them one meaning, else the record "
    "ends.",
    source="ECMA-262, section 22.2.1 and annex B.1.2; JSON Schema 2020-12 core, "
    "section 6.4 (`u`)",
    apply=_apply,
    reasons=(Reason.BAD_PATTERN,),
)
