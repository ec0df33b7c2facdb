"""Edits after which answers have another shape, or another description.

What is meant changes only as far as a value cannot be expressed in the new shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.fit.edits import (
    SCALARS,
    Keywords,
    SchemaObject,
    Sites,
    asserting,
    at_sites,
)
from curation.fit.scan import read_properties, read_required
from curation.fit.shapes import derive_shape, with_shape
from curation.json.pointer import at, tokens_of_fragment
from curation.schema.subschemas import without

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Maximum length of a followed chain of references.
_MAX_REFERENCES: Final = 10
#: Most elements of an array that are members of an object.
_MAX_MEMBERS: Final = 64
_OF_OBJECTS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties"}
)
_OF_NAMES: Final = frozenset(
    {"pattern", "enum", "const", "minLength", "maxLength", "format"}
)
_OF_ARRAYS: Final = frozenset({"type", "items", "prefixItems", "minItems", "maxItems"})


def nullable(schema: UntypedJson, sites: Sites) -> UntypedJson:
    """Ask for null where an optional property is absent; it cannot be null itself."""

    def edit(part: SchemaObject, _keywords: Keywords) -> SchemaObject:
        properties, required = read_properties(part), read_required(part)
        if part.get("type") != "object" or not asserting(part) <= _OF_OBJECTS:
            return part
        optional = {
            name: _never_null(member, schema)
            for name, member in properties.items()
            if name not in required
        }
        parts = {
            name: branch for name, branch in optional.items() if branch is not None
        }
        result = {**part, "properties": {**properties, **parts}}
        if mandatory := [name for name in properties if name not in parts]:
            result["required"] = mandatory
        # One that cannot be null is required.
        return with_shape(result, nullable=tuple(parts)) if parts else result

    return at_sites(edit)(schema, sites)


def _never_null(schema: UntypedJson, root: UntypedJson) -> UntypedJson | None:
    """Return `_without_null`; a reference to a schema without null is kept."""
    if not isinstance(schema, dict) or asserting(schema) != {"$ref"}:
        return _without_null(schema)
    target: UntypedJson = schema
    for _ in range(_MAX_REFERENCES):
        reference = str(target.get("$ref", ""))
        if not reference.startswith("#"):
            break
        try:
            target = at(root, tokens_of_fragment(reference))
        except LookupError:
            return None
        if not isinstance(target, dict):
            return None
    return schema if _without_null(target) == target else None


def _without_null(schema: UntypedJson) -> UntypedJson | None:
    """Return a schema of the values that are not null; None if that is not plain."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    if isinstance(kind, str):
        return None if kind == "null" else schema
    if isinstance(kind, list):
        kinds = [name for name in kind if name != "null"]
        if not kinds:
            return None
        remaining = {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
        if isinstance(schema.get("enum"), list):
            remaining["enum"] = [value for value in schema["enum"] if value is not None]
        return remaining
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        non_null = [value for value in values if value is not None]
        if len(non_null) == len(values):
            return schema
        return {**schema, "enum": non_null} if non_null and "enum" in schema else None
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        non_null = [
            part for branch in branches if (part := _without_null(branch)) is not None
        ]
        dropped = [branch for branch in branches if _without_null(branch) is None]
        if non_null and all(branch == {"type": "null"} for branch in dropped):
            return {**schema, "anyOf": non_null}
    return None


def pairs(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Ask for a map as an array of objects with key and value."""
    allowed = _OF_OBJECTS | {"patternProperties", "propertyNames", "minProperties"}
    if (
        read_properties(schema)
        or read_required(schema)
        or not asserting(schema) <= allowed
    ):
        return schema
    if schema.get("type") != "object" or schema.get("minProperties", 0) not in (0, 1):
        return schema
    if derive_shape(schema).pairs:
        return schema
    additional = schema.get("additionalProperties", True)
    patterns = schema.get("patternProperties") or {}
    names = schema.get("propertyNames", {})
    if patterns:
        if len(patterns) > 1 or "propertyNames" in schema:
            return schema
        (pattern, additional), names = next(iter(patterns.items())), {}
        names = {"pattern": pattern}
    if (
        not isinstance(names, dict)
        or names.keys() - {"type"} - _OF_NAMES
        or additional is False
    ):
        return schema
    return with_shape(
        {
            **without(schema, "patternProperties", "required", "properties"),
            **({"propertyNames": names} if names else {}),
            "additionalProperties": {"type": list(SCALARS)}
            if additional is True or additional == {}
            else additional,
        },
        pairs=True,
    )


def members(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Ask for the leading elements of an array as members of an object."""
    prefix = schema.get("prefixItems")
    leading = len(prefix) if isinstance(prefix, list) else 0
    minimum = schema.get("minItems", 0)
    maximum = schema.get("maxItems")
    if schema.get("type") != "array" or not isinstance(minimum, int):
        return schema
    count = max(leading, minimum)
    if (
        not 0 < count <= _MAX_MEMBERS
        or asserting(schema) - _OF_ARRAYS
        or derive_shape(schema).items
    ):
        return schema
    items = schema.get("items", True)
    if isinstance(maximum, int) and maximum < count:
        return schema
    has_more = (
        items is not False and maximum != count and not (leading and items is True)
    )
    result = {**schema, "minItems": count}
    if not has_more:
        result["maxItems"] = count
    return with_shape(result, items=count, more=has_more)


def distinct(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Drop repeated elements from answers, as `uniqueItems` asks."""
    if schema.get("minItems", 0) not in (0, 1) or asserting(schema) - _OF_ARRAYS - {
        "uniqueItems"
    }:
        return schema
    # After a dropped element, others would move to its index.
    if "prefixItems" in schema or schema.get("uniqueItems") is not True:
        return schema
    return with_shape(schema, distinct=True)


def shortened(schema: SchemaObject, _keywords: Keywords) -> SchemaObject:
    """Cut arrays in answers at their `maxItems`."""
    limit = schema.get("maxItems")
    if not isinstance(limit, int) or asserting(schema) - _OF_ARRAYS - {"uniqueItems"}:
        return schema
    if limit < 1 or limit < schema.get("minItems", 0):
        return schema
    return with_shape(schema, cut=True)


def wrapped(schema: UntypedJson, _sites: Sites) -> UntypedJson:
    """Ask for the value as the member of an object."""
    if not isinstance(schema, dict) or derive_shape(schema).wrapped:
        return schema
    return with_shape(schema, wrapped=True)


def dropped(schema: SchemaObject, keywords: Keywords) -> SchemaObject:
    """Say in the description what the target does not hold."""
    moved = {name: value for name, value in schema.items() if name in keywords}
    if not moved:
        return schema
    dropped = {**derive_shape(schema).dropped, **moved}
    return with_shape(without(schema, *moved), dropped=dropped)
