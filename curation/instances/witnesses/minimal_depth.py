"""Least nesting of a value of a schema; infinite if it never ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from curation.core.json_types import Json
from curation.instances.constraints.keyword_values import (
    item_keywords,
    read_array,
    read_names,
    read_object,
)
from curation.json.values import is_number
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Keywords without effect on other types than this one.
_HINTS: Final = {"required": "object", "minItems": "array"}


#: Levels of the instance between a value and its needs (0 or 1), and the schemas of
#: which that must meet one.
_Need = tuple[int, tuple[SchemaLocation, ...]]


def minimal_depth(
    compiled: CompiledSchema, location: SchemaLocation, *, hinted: bool = False
) -> float:
    """Return the least nesting of a value, by its required keywords.

    Args:
        compiled: The schema.
        location: A schema in it.
        hinted: Whether a schema without a type that requires properties or items is
            read as one of objects or arrays.

    Example:
        >>> schema = {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> minimal_depth(compiled, compiled.root)
        0.0
        >>> minimal_depth(compiled, compiled.root, hinted=True)
        inf
    """
    depths: dict[SchemaLocation, float] = compiled.memos.setdefault(
        (minimal_depth, hinted), {}
    )
    if location in depths:
        return depths[location]
    needs: dict[SchemaLocation, list[_Need]] = {}
    stack = [location]
    while stack:
        current = stack.pop()
        if current not in needs and current not in depths:
            needs[current] = _needs(compiled, current, hinted=hinted)
            stack.extend(
                inner for _, locations in needs[current] for inner in locations
            )
    depths.update(dict.fromkeys(needs, math.inf))
    changed = True
    while changed:
        changed = False
        for needing, needed in needs.items():
            depth = max(
                (
                    levels + min(map(depths.__getitem__, alternatives))
                    for levels, alternatives in needed
                ),
                default=0.0,
            )
            if depth < depths[needing]:
                depths[needing], changed = depth, True
    return depths[location]


def _needs(
    compiled: CompiledSchema, location: SchemaLocation, *, hinted: bool
) -> list[_Need]:
    """Return what every value of a schema needs, or every one of the hinted type."""
    schema = location.schema
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return []
    needs: list[_Need] = []
    target = compiled.target(location) if "$ref" in schema else None
    if target is not None:
        needs.append((0, (target,)))
        if compiled.dialect.ref_hides_siblings:
            return needs
    needs += [(0, (branch,)) for branch in compiled.branches(location, "allOf")]
    for keyword in ("anyOf", "oneOf"):
        if branches := compiled.branches(location, keyword):
            needs.append((0, branches))
    needs += [
        (1, tuple(compiled.child(location, tokens) for tokens in group))
        for group in _members_needed(schema, compiled.dialect, hinted=hinted)
    ]
    return needs


def _members_needed(
    schema: Mapping[str, Json], dialect: Dialect, *, hinted: bool
) -> list[list[Tokens]]:
    """Return groups of members' schemas; each value meets a schema of each group."""
    types = read_names(schema.get("type"))
    if hinted and not types:
        types = [kind for keyword, kind in _HINTS.items() if schema.get(keyword)][:1]
    minimum = schema.get("minItems" if types == ["array"] else "minProperties")
    is_filled = is_number(minimum) and minimum > 0
    if types == ["array"] and is_filled:
        prefix, remaining = item_keywords(schema, dialect)
        if read_array(schema, prefix):
            return [[(prefix, "0")]]
        return [[(remaining,)]] if remaining else []
    if types != ["object"]:
        return []
    declared = read_object(schema, "properties")
    required = [name for name in read_names(schema.get("required")) if name in declared]
    if required:
        return [[("properties", name)] for name in required]
    is_closed = schema.get("additionalProperties") is False
    if is_filled and is_closed and declared and not schema.get("patternProperties"):
        return [[("properties", name) for name in declared]]
    return []
