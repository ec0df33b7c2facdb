"""Templates: files in which `${` stands where its value would decide the meaning.

In a text for people, a default or an example `${` is text, and so it is in the value of
a keyword that no draft knows; a key with `${` always rejects.
"""

from __future__ import annotations

from collections.abc import Iterator

from curation.core.rule import Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import Tokens, pointer
from curation.json.values import searchable
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, Shape
from curation.schema.subschemas import SchemaLocation, subschema_locations

_MARK = "${"
#: Words whose value is text: nothing in there counts.
_TEXT = ANNOTATIONS - {"$schema"} | {"example"}
#: Keywords whose value is data that the meaning hangs on: everything in it counts.
_DATA = frozenset({"enum", "const"})
_KEYWORDS = ANY_DIALECT.effective | {"$schema"}
_MAPS = frozenset({Shape.MAP, Shape.DEPENDENCIES})


def _all(value: Json, tokens: Tokens, *, strings: bool) -> Iterator[Tokens]:
    """Yield the marked keys, and strings if they count, at any depth of a value."""
    if isinstance(value, str):
        if strings and _MARK in value:
            yield tokens
    elif isinstance(value, dict):
        for name, inner in value.items():
            if _MARK in name:
                yield (*tokens, name)
            yield from _all(inner, (*tokens, name), strings=strings)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _all(inner, (*tokens, str(index)), strings=strings)


def _own(value: Json, tokens: Tokens) -> Iterator[Tokens]:
    if isinstance(value, list):
        value = [member for member in value if isinstance(member, str)]
    if isinstance(value, str | list):
        yield from _all(value, tokens, strings=True)


def _in_place(location: SchemaLocation) -> Iterator[Tokens]:
    """Yield the marks of one schema, those of the schemas inside it left out."""
    if not isinstance(location.schema, dict):
        return
    for keyword, value in location.schema.items():
        tokens = (*location.tokens, keyword)
        if _MARK in keyword:
            yield tokens
        elif keyword in _TEXT:
            continue
        elif keyword in _DATA or keyword not in _KEYWORDS:
            yield from _all(value, tokens, strings=keyword in _DATA)
        elif isinstance(value, dict) and ANY_DIALECT.applicators.get(keyword) in _MAPS:
            for name, inner in value.items():
                if _MARK in name:
                    yield (*tokens, name)
                yield from _own(inner, (*tokens, name))
        else:
            yield from _own(value, tokens)


def _apply(document: Document, _context: Context) -> Document | Rejected:
    if _MARK.encode() not in searchable(document.schema):
        return document
    for location in subschema_locations(document.schema, ANY_DIALECT):
        for tokens in _in_place(location):
            where = pointer(tokens)
            detail = f"`{_MARK}` at {where}"
            return Rejected(reason=Reason.TEMPLATE, detail=detail, pointer=where)
    return document


RULE = Rule(
    name="template",
    summary="Drop files in which `${` stands in a key, a reference or identifier, a "
    "type, enum, const or pattern, or where a schema is expected.",
    source="JSONSchemaBench, appendix A.1, which drops every file that holds `${`; "
    "most of those only mention it in a description",
    apply=_apply,
    reasons=(Reason.TEMPLATE,),
)
