"""Keywords of one schema object, read without following anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from curation.core.json_types import Json
from curation.json.values import is_number
from curation.schema.dialects import DRAFT_2020_12, Dialect

#: Keywords whose meaning depends on others of their schema.
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

#: Keywords that are themselves what fails.
DECIDING: Final = frozenset(
    {
        *("anyOf", "oneOf", "not", "if", "contains", "propertyNames", "dependencies"),
        *("dependentRequired", "dependentSchemas", "unevaluatedItems"),
        "unevaluatedProperties",
    }
)
#: What both validators assert, by dialect; some are older than their draft.
_FORMATS_04: Final = frozenset(
    {"date-time", "email", "hostname", "idn-email", "ipv4", "ipv6", "regex", "uri"}
)
_FORMATS_06: Final = _FORMATS_04 | {"json-pointer", "uri-reference", "uri-template"}
_FORMATS_07: Final = _FORMATS_06 | {
    "date",
    "idn-hostname",
    "iri",
    "iri-reference",
    "relative-json-pointer",
    "time",
}
_FORMATS_2019: Final = _FORMATS_07 | {"duration", "uuid"}
#: Every format asserted in some dialect.
KNOWN_FORMATS: Final = _FORMATS_2019
_FORMATS: Final = {
    "draft-04": _FORMATS_04,
    "draft-06": _FORMATS_06,
    "draft-07": _FORMATS_07,
    "2019-09": _FORMATS_2019,
    "2020-12": _FORMATS_2019,
}


def accepts_everything(schema: Json) -> bool:
    """Return whether a schema is `true` or `{}`; no other one is looked into."""
    return schema is True or schema == {}


def read_object(schema: Mapping[str, Json], keyword: str) -> dict[str, Json]:
    """Return the object that a keyword holds; an empty one if it holds none."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def read_array(schema: Mapping[str, Json], keyword: str) -> list[Json]:
    """Return the array that a keyword holds; an empty one if it holds none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def read_names(value: Json) -> list[str]:
    """Return the strings of a keyword that holds one string or an array of them.

    Example:
        >>> read_names("string"), read_names(["string", "null"])
        (['string'], ['string', 'null'])
    """
    if isinstance(value, str):
        return [value]
    values = value if isinstance(value, list) else []
    return [name for name in values if isinstance(name, str)]


def read_number(schema: Mapping[str, Json], keyword: str) -> float:
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


def asserted_formats(dialect: Dialect) -> frozenset[str]:
    """Return the formats that both validators assert under a dialect."""
    return _FORMATS[dialect.name]
