"""Which keywords of one schema object can refuse a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import accepts_everything
from curation.json.values import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect

    _Test = Callable[[dict[str, UntypedJson], Dialect], bool]

#: What both validators assert, by dialect; some are older than their draft.
_FORMATS_04: Final = frozenset(
    {
        "date-time",
        "email",
        "hostname",
        "idn-email",
        "ipv4",
        "ipv6",
        "regex",
        "uri",
    }
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
#: Every format that is asserted in some dialect.
KNOWN_FORMATS: Final = _FORMATS_2019
_FORMATS: Final = {
    "draft-04": _FORMATS_04,
    "draft-06": _FORMATS_06,
    "draft-07": _FORMATS_07,
    "2019-09": _FORMATS_2019,
    "2020-12": _FORMATS_2019,
}
_TYPES: Final = frozenset({"string", "object", "array", "number", "boolean", "null"})


def asserting_keywords(schema: UntypedJson, dialect: Dialect) -> tuple[str, ...]:
    """Return the keywords that some value may fail, in the order they stand.

    `minLength: 0`, `uniqueItems: false`, `not: false` and their like never fail.
    """
    if not isinstance(schema, dict):
        return ()
    known = dialect.effective
    return tuple(
        word
        for word in schema
        if word in _CAN_FAIL
        and (word in known or word == "format")
        and _CAN_FAIL[word](schema, dialect)
    )


def formats(dialect: Dialect) -> frozenset[str]:
    """Return the formats that both validators assert under a dialect."""
    return _FORMATS[dialect.name]


def _positive(word: str) -> _Test:
    return lambda schema, _: is_number(schema[word]) and schema[word] > 0


def _number(word: str) -> _Test:
    return lambda schema, _: is_number(schema[word])


def _bound(word: str, flag: str) -> _Test:
    """Draft-04's boolean flag takes the place of the bound beside it."""
    return lambda schema, _: is_number(schema[word]) and schema.get(flag) is not True


def _flag(word: str, bound: str) -> _Test:
    def test(schema: dict[str, UntypedJson], _: Dialect) -> bool:
        if schema[word] is True:
            return is_number(schema.get(bound))
        return is_number(schema[word])

    return test


def _type(schema: dict[str, UntypedJson], _: Dialect) -> bool:
    named = schema["type"]
    return not set([named] if isinstance(named, str) else named) >= _TYPES


def _entries(word: str) -> _Test:
    def test(schema: dict[str, UntypedJson], _: Dialect) -> bool:
        value = schema[word]
        return isinstance(value, dict) and any(
            bool(each) if isinstance(each, list) else not accepts_everything(each)
            for each in value.values()
        )

    return test


def _is_false(word: str) -> _Test:
    return lambda schema, _: schema[word] is False


def _branches(word: str) -> _Test:
    def test(schema: dict[str, UntypedJson], _: Dialect) -> bool:
        value = schema[word]
        if not isinstance(value, list):
            return False
        trivial = sum(map(accepts_everything, value))
        if word == "anyOf":
            return not trivial
        return not trivial or len(value) > 1

    return test


def _conditional(schema: dict[str, UntypedJson], _: Dialect) -> bool:
    test = schema["if"]
    parts = {"then": True, "else": True} | schema
    then = not accepts_everything(parts["then"]) and test is not False
    other = not accepts_everything(parts["else"]) and not accepts_everything(test)
    return then or other


def _contains(schema: dict[str, UntypedJson], dialect: Dialect) -> bool:
    """Beside `minContains` or `maxContains` jsonschema-rs names that keyword."""
    counts = dialect.assertions & {"minContains", "maxContains"}
    return counts.isdisjoint(schema)


def _format(schema: dict[str, UntypedJson], dialect: Dialect) -> bool:
    return isinstance(schema["format"], str) and schema["format"] in formats(dialect)


_CAN_FAIL: Final[dict[str, _Test]] = {
    "type": _type,
    "enum": lambda schema, _: isinstance(schema["enum"], list),
    "const": lambda _, __: True,
    "minimum": _bound("minimum", "exclusiveMinimum"),
    "maximum": _bound("maximum", "exclusiveMaximum"),
    "exclusiveMinimum": _flag("exclusiveMinimum", "minimum"),
    "exclusiveMaximum": _flag("exclusiveMaximum", "maximum"),
    "multipleOf": _number("multipleOf"),
    "minLength": _positive("minLength"),
    "maxLength": _number("maxLength"),
    "pattern": lambda schema, _: isinstance(schema["pattern"], str),
    "format": _format,
    "minItems": _positive("minItems"),
    "maxItems": _number("maxItems"),
    "uniqueItems": lambda schema, _: schema["uniqueItems"] is True,
    "contains": _contains,
    "minContains": lambda schema, _: "contains" in schema and schema["minContains"] > 0,
    "maxContains": lambda schema, _: "contains" in schema,
    "items": _is_false("items"),
    "additionalItems": lambda schema, _: (
        schema["additionalItems"] is False and isinstance(schema.get("items"), list)
    ),
    "unevaluatedItems": lambda schema, _: (
        not accepts_everything(schema["unevaluatedItems"])
    ),
    "required": lambda schema, _: (
        isinstance(schema["required"], list) and bool(schema["required"])
    ),
    "minProperties": _positive("minProperties"),
    "maxProperties": _number("maxProperties"),
    "additionalProperties": _is_false("additionalProperties"),
    "unevaluatedProperties": lambda schema, _: (
        not accepts_everything(schema["unevaluatedProperties"])
    ),
    "propertyNames": lambda schema, _: not accepts_everything(schema["propertyNames"]),
    "dependencies": _entries("dependencies"),
    "dependentRequired": _entries("dependentRequired"),
    "dependentSchemas": _entries("dependentSchemas"),
    "anyOf": _branches("anyOf"),
    "oneOf": _branches("oneOf"),
    "not": lambda schema, _: schema["not"] is not False,
    "if": _conditional,
}
