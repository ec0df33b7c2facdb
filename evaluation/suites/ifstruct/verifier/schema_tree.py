"""A record's schema, read once into what the walk over an answer needs.

The keywords are those that the published verifier knows: `type`, `enum`, `minimum`,
`maximum`, `minItems`, `maxItems`, `items`, `properties` and `required`. All others are
passed over; `ifstruct-ext` asks another validator about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.verifier.reading import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_KEYWORDS: Final = frozenset(
    {
        "type",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "items",
        "properties",
        "required",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNode:
    """What one value has to be."""

    types: frozenset[str]
    enum: tuple[UntypedJson, ...] | None
    minimum: int | float | None
    maximum: int | float | None
    min_items: int | None
    max_items: int | None
    items: SchemaNode | None
    #: None where the schema names no members: then any are right.
    properties: Mapping[str, SchemaNode] | None
    required: tuple[str, ...]
    #: The scalars that a value holds: one of itself, those of its members, and of a
    #: list those of as many items as there must be, one at least.
    leaves: int


def read_schema(schema: UntypedJson, depth: int = 0) -> SchemaNode:
    """Return the tree of a schema; what is no schema asks for nothing.

    Raises:
        ValueError: it nests deeper than an answer may.
    """
    if depth > DEEPEST:
        raise ValueError(f"the schema nests over {DEEPEST} levels")
    known: Mapping[str, UntypedJson] = schema if isinstance(schema, dict) else {}
    known = {name: known[name] for name in _KEYWORDS & known.keys()}
    items = read_schema(known["items"], depth + 1) if "items" in known else None
    properties = None
    if isinstance(known.get("properties"), dict):
        properties = {
            name: read_schema(member, depth + 1)
            for name, member in known["properties"].items()
        }
    types = known.get("type", ())
    return SchemaNode(
        types=frozenset((types,) if isinstance(types, str) else types),
        enum=tuple(known["enum"]) if "enum" in known else None,
        minimum=known.get("minimum"),
        maximum=known.get("maximum"),
        min_items=known.get("minItems"),
        max_items=known.get("maxItems"),
        items=items,
        properties=properties,
        required=tuple(known.get("required", ())),
        leaves=_leaves(items, properties, known.get("minItems")),
    )


def _leaves(
    items: SchemaNode | None,
    properties: Mapping[str, SchemaNode] | None,
    least: int | None,
) -> int:
    if properties is not None:
        return sum(member.leaves for member in properties.values())
    return items.leaves * max(1, least or 1) if items is not None else 1
