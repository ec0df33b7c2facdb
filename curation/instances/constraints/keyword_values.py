"""Keywords of one schema object, read without following anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from curation.schema.dialects import DRAFT_2020_12

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

#: Keywords that mean what they do only together with others of their schema.
COMPANIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "additionalProperties": ("properties", "patternProperties"),
    "additionalItems": ("items",),
    "items": ("prefixItems",),
    "minContains": ("contains",),
    "maxContains": ("contains", "minContains"),
    "if": ("then", "else"),
}


def accepts_everything(schema: Json) -> bool:
    """Return whether a schema is `true` or `{}`; no other one is looked into."""
    return schema is True or schema == {}


def object_of(schema: Mapping[str, Json], keyword: str) -> dict[str, Json]:
    """Return the object that a keyword holds; an empty one if it holds none."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def array_of(schema: Mapping[str, Json], keyword: str) -> list[Json]:
    """Return the array that a keyword holds; an empty one if it holds none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def names_of(value: Json) -> list[str]:
    """Return the strings of a keyword that holds one string or an array of them.

    Example:
        >>> names_of("string"), names_of(["string", "null"])
        (['string'], ['string', 'null'])
    """
    if isinstance(value, str):
        return [value]
    listed = value if isinstance(value, list) else []
    return [name for name in listed if isinstance(name, str)]


def number_of(schema: Mapping[str, Json], keyword: str) -> float:
    """Return the number that a keyword holds.

    Raises:
        TypeError: it holds something else.
    """
    value = schema[keyword]
    if not is_number(value):
        raise TypeError(keyword)
    return value


def item_keywords(schema: Mapping[str, Json], dialect: Dialect) -> tuple[str, str]:
    """Return the keywords of the first elements and of the rest; empty if absent.

    Since 2020-12 `prefixItems` and `items`, before that `items` (an array) and
    `additionalItems`.

    Example:
        >>> from curation.schema.dialects import DRAFT_07
        >>> item_keywords({"items": [True], "additionalItems": False}, DRAFT_07)
        ('items', 'additionalItems')
        >>> item_keywords({"items": {"type": "string"}}, DRAFT_07)
        ('', 'items')
    """
    if dialect is DRAFT_2020_12:
        prefix = "prefixItems" if isinstance(schema.get("prefixItems"), list) else ""
        return prefix, "items" if "items" in schema else ""
    if isinstance(schema.get("items"), list):
        return "items", "additionalItems" if "additionalItems" in schema else ""
    return "", "items" if "items" in schema else ""
