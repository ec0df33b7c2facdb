"""A field of an item, and the JSON Schema of the items that some fields make.

The same struct is read from the data files of entity kinds (all that a field may say),
kept in the `spec` of a row (what was drawn of it), and turned into the schema that is
judged.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json


class FieldType(StrEnum):
    """What a field holds."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    """One of `values`, which are strings."""
    OBJECT = "object"
    """An object of `fields`."""
    OBJECTS = "objects"
    """A list of objects of `fields`, as many as `min_items` to `max_items`."""
    STRINGS = "strings"
    """A list of strings, as many as `min_items` to `max_items`."""


class FieldCondition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another field of the same object that decides whether a field has to be there."""

    field: str
    #: The field is required when `field` has this value, else it may be absent.
    equals: str | bool


class Field(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """One field: its name, its type and the limits of its values."""

    #: Of two words at least, joined by `_`, so that no prose names it by chance.
    name: str
    type: FieldType
    #: A few words for a reader; empty: the name says enough.
    about: str = ""
    #: Whether it may be absent.
    optional: bool = False
    minimum: int | float | None = None
    maximum: int | float | None = None
    #: The values of an `enum`.
    values: tuple[str, ...] = ()
    min_items: int | None = None
    max_items: int | None = None
    #: The fields of an `object`, or of each one of `objects`.
    fields: tuple[Field, ...] = ()
    #: What its text needs escaped: names of `escapes.toml`.
    stress: tuple[str, ...] = ()
    #: What only `ifstruct-ext` asks for.
    pattern: str = ""
    format: str = ""
    min_length: int | None = None
    max_length: int | None = None
    #: Whether the strings of a list must differ.
    unique: bool = False
    when: FieldCondition | None = None
    #: Texts that satisfy `pattern`, `format` and lengths, for the reference answer.
    examples: tuple[str, ...] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether it holds no other fields."""
        return self.type not in (FieldType.OBJECT, FieldType.OBJECTS)


def field_schema(field: Field) -> dict[str, Json]:
    """Return the JSON Schema of a field's value."""
    match field.type:
        case FieldType.ENUM:
            return {"type": "string", "enum": list(field.values)}
        case FieldType.OBJECT:
            return object_schema(field.fields)
        case FieldType.OBJECTS:
            return _list_schema(field, object_schema(field.fields))
        case FieldType.STRINGS:
            return _list_schema(field, {"type": "string"})
    limits: dict[str, Json] = {
        "minimum": field.minimum,
        "maximum": field.maximum,
        "minLength": field.min_length,
        "maxLength": field.max_length,
        "pattern": field.pattern or None,
        "format": field.format or None,
    }
    schema: dict[str, Json] = {"type": str(field.type)}
    schema |= {name: limit for name, limit in limits.items() if limit is not None}
    return schema


def object_schema(fields: tuple[Field, ...]) -> dict[str, Json]:
    """Return the JSON Schema of an object of these fields and no others."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {field.name: _described(field) for field in fields},
        "required": [
            field.name for field in fields if not field.optional and not field.when
        ],
        "additionalProperties": False,
    }
    rules = [_condition_schema(field) for field in fields if field.when]
    if rules:
        schema["allOf"] = list(rules)
    return schema


def list_schema(fields: tuple[Field, ...], least: int, most: int) -> dict[str, Json]:
    """Return the JSON Schema of a list of items, as a record's `json_schema` has it."""
    return {
        "type": "array",
        "minItems": least,
        "maxItems": most,
        "items": object_schema(fields),
    }


def all_fields(
    fields: tuple[Field, ...], path: str = ""
) -> Iterator[tuple[str, Field]]:
    """Yield every field with its path, parents first: `poems[].poem_title`."""
    for field in fields:
        own = f"{path}.{field.name}" if path else field.name
        yield own, field
        ending = "" if field.type is FieldType.OBJECT else "[]"
        yield from all_fields(field.fields, own + ending)


def _described(field: Field) -> dict[str, Json]:
    schema = field_schema(field)
    return schema | {"description": field.about} if field.about else schema


def _list_schema(field: Field, items: dict[str, Json]) -> dict[str, Json]:
    limits: dict[str, Json] = {
        "minItems": field.min_items,
        "maxItems": field.max_items,
        "uniqueItems": field.unique or None,
    }
    schema: dict[str, Json] = {"type": "array", "items": items}
    return schema | {name: limit for name, limit in limits.items() if limit is not None}


def _condition_schema(field: Field) -> dict[str, Json]:
    """Return `if` the other field has the value, `then` this one is required."""
    if field.when is None:
        return {}
    other: dict[str, Json] = {field.when.field: {"const": field.when.equals}}
    return {
        "if": {"properties": other, "required": [field.when.field]},
        "then": {"required": [field.name]},
    }
