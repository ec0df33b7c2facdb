"""`{,n}` in patterns, which is a repetition in Python and text in ECMA-262."""

from __future__ import annotations

import re

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.json.values import searchable
from curation.rules.editing import mended
from curation.schema.dialects import BY_NAME
from curation.validation.patterns import is_ecma

_NAME = "repetition-from-zero"
_SIGN = re.compile(rb"\{,[0-9]+\}")
#: An escape, a class, and the brace of a quantifier that says no least number.
_UP_TO = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])|\{(?=,[0-9]+\})", re.DOTALL)


def _apply(document: Document, _context: Context) -> Document:
    if not _SIGN.search(searchable(document.schema)):
        return document
    dialect = BY_NAME[document.dialect or "2020-12"]
    note = "`{,n}` is no quantifier of ECMA-262; `{0,n}` was meant"
    return mended(document, _NAME, _mended, note, dialect)


def _mended(schema: dict[str, Json]) -> dict[str, Json]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and _counted(pattern) != pattern:
        schema = {**schema, "pattern": _counted(pattern)}
    named = schema.get("patternProperties")
    if isinstance(named, dict):
        new = {_counted(name): member for name, member in named.items()}
        if len(new) == len(named) and new.keys() != named.keys():
            schema = {**schema, "patternProperties": new}
    return schema


def _counted(pattern: str) -> str:
    if is_ecma(pattern):
        return pattern
    return _UP_TO.sub(lambda match: match[1] or "{0", pattern)


RULE = Rule(
    name=_NAME,
    summary="`{,n}` becomes `{0,n}` in a pattern that is not ECMA-262 with the `u` "
    "flag.",
    source="ECMA-262, section 22.2.1 (Quantifier); Python's `re` reads it so; one "
    "GitHub file, mended so in the published benchmark",
    apply=_apply,
    repair=RepairKind.MECHANICAL,
)
