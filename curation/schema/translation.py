"""A schema of one draft in the keywords of another, where the meaning can be kept.

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
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens

#: Same keyword, same shape, but 2020-12 counts what `contains` met as evaluated.
_CHANGED_2020 = frozenset({"unevaluatedItems"})
_EXCLUSIVE = {"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"}


#: From each limit to the flag of draft-04 that makes it exclusive.
_FLAGS = {limit: flag for flag, limit in _EXCLUSIVE.items()}


class CannotPortError(Exception):
    """A keyword that the other draft cannot express."""


def ported(schema: Json, source: Dialect, target: Dialect) -> Json:
    """Return a schema of one dialect in the keywords of another.

    Raises:
        CannotPortError: it says something that the other cannot.

    Example:
        >>> ported({"minimum": 1, "exclusiveMinimum": True}, DRAFT_04, DRAFT_2020_12)
        {'exclusiveMinimum': 1}
    """

    def port(_tokens: Tokens, subschema: Json) -> Json:
        if isinstance(subschema, dict):
            return _ported(subschema, source, target)
        if isinstance(subschema, bool) and target is DRAFT_04:
            raise CannotPortError("a boolean schema")
        return subschema

    return edited(schema, source, port)


def _ported(schema: dict[str, Json], source: Dialect, target: Dialect) -> Json:
    hidden = source.ref_hides_siblings and "$ref" in schema
    result: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "$schema":
            continue
        if keyword == source.id_keyword and isinstance(value, str):
            if not hidden:
                result[target.id_keyword] = value
        elif keyword not in KNOWN_KEYWORDS or keyword in ANNOTATIONS | CONTAINERS:
            result[keyword] = value
        elif keyword in source.effective and (keyword == "$ref" or not hidden):
            result.update(_translated(keyword, schema, source, target))
    beside = result.keys() & (target.effective - CONTAINERS - {"$ref"})
    if "$ref" in result and target.ref_hides_siblings and beside:
        raise CannotPortError("keywords beside a `$ref`")
    return result


def _translated(
    keyword: str, schema: dict[str, Json], source: Dialect, target: Dialect
) -> dict[str, Json]:
    """Return what one effective keyword becomes."""
    value = schema[keyword]
    if keyword in _EXCLUSIVE and source is DRAFT_04:
        limit = schema.get(_EXCLUSIVE[keyword])
        if target is DRAFT_04:
            return {keyword: value}
        return {keyword: limit} if value is True and limit is not None else {}
    if keyword in _FLAGS and source is DRAFT_04 and target is not DRAFT_04:
        return {} if schema.get(_FLAGS[keyword]) is True else {keyword: value}
    if keyword in _EXCLUSIVE and target is DRAFT_04:
        raise CannotPortError(keyword)
    if keyword == "dependencies" and target.order >= DRAFT_2019_09.order:
        return _dependencies(value)
    if target is DRAFT_2020_12 and keyword in ("items", "additionalItems"):
        return _items(keyword, schema)
    changed = keyword in _CHANGED_2020 and source is not target
    if keyword not in target.effective or changed:
        raise CannotPortError(keyword)
    return {keyword: value}


def _dependencies(value: Json) -> dict[str, Json]:
    """Return the two keywords of 2019-09 that say what `dependencies` says."""
    members = value if isinstance(value, dict) else {}
    required: dict[str, Json] = {}
    schemas: dict[str, Json] = {}
    for name, member in members.items():
        (required if isinstance(member, list) else schemas)[name] = member
    result: dict[str, Json] = {}
    if required:
        result["dependentRequired"] = required
    if schemas:
        result["dependentSchemas"] = schemas
    return result


def _items(keyword: str, schema: dict[str, Json]) -> dict[str, Json]:
    """Return what `items` or `additionalItems` becomes in 2020-12."""
    items = schema.get("items")
    if not isinstance(items, list):
        return {"items": items} if keyword == "items" else {}
    if keyword == "items":
        return {"prefixItems": items} if items else {}
    return {"items": schema["additionalItems"]}
