"""Which keywords of one schema object can refuse a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import (
    accepts_everything,
    array_of,
    asserted_formats,
    names_of,
)
from curation.json.values import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect

    _Schema = Mapping[str, Json]
    _Test = Callable[[_Schema, Dialect], bool]

_TYPES: Final = frozenset({"string", "object", "array", "number", "boolean", "null"})


def asserting_keywords(schema: Json, dialect: Dialect) -> tuple[str, ...]:
    """Return the keywords that some value may fail, in the order they stand.

    `minLength: 0`, `uniqueItems: false`, `not: false` and their like never fail.

    Example:
        >>> from curation.schema.dialects import DRAFT_07
        >>> asserting_keywords({"minLength": 0, "maxLength": 9, "title": "t"}, DRAFT_07)
        ('maxLength',)
    """
    if not isinstance(schema, dict):
        return ()
    known = dialect.effective
    return tuple(
        keyword
        for keyword in schema
        if keyword in _CAN_FAIL
        and (keyword in known or keyword == "format")
        and _CAN_FAIL[keyword](schema, dialect)
    )


def _is_above_zero(keyword: str) -> _Test:
    def test(schema: _Schema, _: Dialect) -> bool:
        value = schema[keyword]
        return is_number(value) and value > 0

    return test


def _is_number(keyword: str) -> _Test:
    return lambda schema, _: is_number(schema[keyword])


def _is_string(keyword: str) -> _Test:
    return lambda schema, _: isinstance(schema[keyword], str)


def _is_false(keyword: str) -> _Test:
    return lambda schema, _: schema[keyword] is False


def _can_refuse(keyword: str) -> _Test:
    return lambda schema, _: not accepts_everything(schema[keyword])


def _is_bound(keyword: str, flag: str) -> _Test:
    """Draft-04's boolean flag takes the place of the bound beside it."""
    return lambda schema, _: is_number(schema[keyword]) and schema.get(flag) is not True


def _is_exclusive_bound(keyword: str, bound: str) -> _Test:
    def test(schema: _Schema, _: Dialect) -> bool:
        value = schema.get(bound) if schema[keyword] is True else schema[keyword]
        return is_number(value)

    return test


def _leaves_out_types(schema: _Schema, _: Dialect) -> bool:
    return not set(names_of(schema["type"])) >= _TYPES


def _has_entry(keyword: str) -> _Test:
    """Return the test for a dependency that can refuse an object."""

    def test(schema: _Schema, _: Dialect) -> bool:
        value = schema[keyword]
        return isinstance(value, dict) and any(
            bool(needs) if isinstance(needs, list) else not accepts_everything(needs)
            for needs in value.values()
        )

    return test


def _has_refusing_branch(keyword: str) -> _Test:
    def test(schema: _Schema, _: Dialect) -> bool:
        value = schema[keyword]
        if not isinstance(value, list):
            return False
        accepting = sum(map(accepts_everything, value))
        if keyword == "anyOf":
            return not accepting
        return not accepting or len(value) > 1

    return test


def _has_refusing_consequence(schema: _Schema, _: Dialect) -> bool:
    condition = schema["if"]
    then = not accepts_everything(schema.get("then", True)) and condition is not False
    other = not accepts_everything(schema.get("else", True))
    return then or (other and not accepts_everything(condition))


def _decides_by_contains(schema: _Schema, dialect: Dialect) -> bool:
    """Beside `minContains` or `maxContains` jsonschema-rs names that keyword."""
    counts = dialect.assertions & {"minContains", "maxContains"}
    return counts.isdisjoint(schema)


def _is_asserted_format(schema: _Schema, dialect: Dialect) -> bool:
    name = schema["format"]
    return isinstance(name, str) and name in asserted_formats(dialect)


def _counts_contained(schema: _Schema, dialect: Dialect) -> bool:
    return "contains" in schema and _is_above_zero("minContains")(schema, dialect)


_CAN_FAIL: Final[dict[str, _Test]] = {
    "type": _leaves_out_types,
    "enum": lambda schema, _: isinstance(schema["enum"], list),
    "const": lambda _, __: True,
    "minimum": _is_bound("minimum", "exclusiveMinimum"),
    "maximum": _is_bound("maximum", "exclusiveMaximum"),
    "exclusiveMinimum": _is_exclusive_bound("exclusiveMinimum", "minimum"),
    "exclusiveMaximum": _is_exclusive_bound("exclusiveMaximum", "maximum"),
    "multipleOf": _is_number("multipleOf"),
    "minLength": _is_above_zero("minLength"),
    "maxLength": _is_number("maxLength"),
    "pattern": _is_string("pattern"),
    "format": _is_asserted_format,
    "minItems": _is_above_zero("minItems"),
    "maxItems": _is_number("maxItems"),
    "uniqueItems": lambda schema, _: schema["uniqueItems"] is True,
    "contains": _decides_by_contains,
    "minContains": _counts_contained,
    "maxContains": lambda schema, _: "contains" in schema,
    "items": _is_false("items"),
    "additionalItems": lambda schema, _: (
        schema["additionalItems"] is False and isinstance(schema.get("items"), list)
    ),
    "unevaluatedItems": _can_refuse("unevaluatedItems"),
    "required": lambda schema, _: bool(array_of(schema, "required")),
    "minProperties": _is_above_zero("minProperties"),
    "maxProperties": _is_number("maxProperties"),
    "additionalProperties": _is_false("additionalProperties"),
    "unevaluatedProperties": _can_refuse("unevaluatedProperties"),
    "propertyNames": _can_refuse("propertyNames"),
    "dependencies": _has_entry("dependencies"),
    "dependentRequired": _has_entry("dependentRequired"),
    "dependentSchemas": _has_entry("dependentSchemas"),
    "anyOf": _has_refusing_branch("anyOf"),
    "oneOf": _has_refusing_branch("oneOf"),
    "not": lambda schema, _: schema["not"] is not False,
    "if": _has_refusing_consequence,
}
