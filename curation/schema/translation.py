"""The words of one draft said in another's, where the meaning can be kept.

A record may refer to a document of another draft; brought in, it is read by the
record's own. What did nothing before does nothing afterwards, what cannot be said
is refused. One difference is accepted: draft-04 does not call the number 1.0 an
integer, later drafts do; here 1.0 and 1 are one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.schema.dialects import DRAFT_04, DRAFT_2019_09, DRAFT_2020_12, Dialect
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.subschemas import edited

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens

#: Same word, same shape, but 2020-12 counts what `contains` met as evaluated.
_CHANGED_2020 = frozenset({"unevaluatedItems"})
_EXCLUSIVE = {"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"}


class CannotPortError(Exception):
    """A keyword that the other draft has no words for."""


def ported(schema: UntypedJson, source: Dialect, target: Dialect) -> UntypedJson:
    """Return a schema of one dialect in the words of another.

    Raises:
        CannotPortError: it says something that the other cannot.
    """

    def port(_tokens: Tokens, place: UntypedJson) -> UntypedJson:
        if isinstance(place, bool):
            if target is DRAFT_04:
                raise CannotPortError("a boolean schema")
            return place
        return _ported(place, source, target)

    return edited(schema, source, port)


def _ported(place: UntypedJson, source: Dialect, target: Dialect) -> UntypedJson:
    hidden = source.ref_hides_siblings and "$ref" in place
    result: dict[str, UntypedJson] = {}
    for word, value in place.items():
        if word == "$schema":
            continue
        if word == source.id_keyword and isinstance(value, str):
            if not hidden:
                result[target.id_keyword] = value
        elif word not in KNOWN_KEYWORDS or word in ANNOTATIONS | CONTAINERS:
            result[word] = value
        elif word in source.effective and (word == "$ref" or not hidden):
            result.update(_said(word, place, source, target))
    beside = result.keys() & (target.effective - CONTAINERS - {"$ref"})
    if "$ref" in result and target.ref_hides_siblings and beside:
        raise CannotPortError("keywords beside a `$ref`")
    return result


def _said(
    word: str, place: UntypedJson, source: Dialect, target: Dialect
) -> dict[str, UntypedJson]:
    """Return what one effective keyword becomes."""
    value = place[word]
    limits = {v: k for k, v in _EXCLUSIVE.items()}
    if word in _EXCLUSIVE and source is DRAFT_04:
        bound = place.get(_EXCLUSIVE[word])
        if target is DRAFT_04:
            return {word: value}
        return {word: bound} if value is True and bound is not None else {}
    if word in limits and source is DRAFT_04 and target is not DRAFT_04:
        return {} if place.get(limits[word]) is True else {word: value}
    if word in _EXCLUSIVE and target is DRAFT_04:
        raise CannotPortError(word)
    if word == "dependencies" and target.order >= DRAFT_2019_09.order:
        return _dependencies(value)
    if target is DRAFT_2020_12 and word in ("items", "additionalItems"):
        return _items(word, place)
    if word not in target.effective or (word in _CHANGED_2020 and source is not target):
        raise CannotPortError(word)
    return {word: value}


def _dependencies(value: UntypedJson) -> dict[str, UntypedJson]:
    names = {name: each for name, each in value.items() if isinstance(each, list)}
    schemas = {name: each for name, each in value.items() if name not in names}
    result: dict[str, UntypedJson] = {}
    if names:
        result["dependentRequired"] = names
    if schemas:
        result["dependentSchemas"] = schemas
    return result


def _items(word: str, place: UntypedJson) -> dict[str, UntypedJson]:
    items = place.get("items")
    if not isinstance(items, list):
        return {"items": items} if word == "items" else {}
    if word == "items":
        return {"prefixItems": items} if items else {}
    return {"items": place["additionalItems"]}
