"""Labels: what a value violates is traced to the keyword that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.violations import (
    MIXED,
    as_near_miss,
    find_violations,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_NULL = {"type": "null"}
#: Dialect, schema, value, and the one violation: keyword, schema and instance pointer.
_ONE: list[tuple[str, UntypedJson, UntypedJson, tuple[str, str, str]]] = [
    ("draft-07", {"type": "string"}, 1, ("type", "/type", "")),
    (
        "draft-07",
        {"allOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": _NULL}},
        1,
        ("type", "/definitions/a/type", ""),
    ),
    (
        "draft-07",
        {"properties": {"a/b": {"items": {"maxLength": 1}}}},
        {"a/b": ["x", "xy"]},
        ("maxLength", "/properties/a~1b/items/maxLength", "/a~1b/1"),
    ),
    *(
        (
            "draft-07",
            {"properties": {name: {"properties": {"a": _NULL}}}},
            {name: {"a": 1}},
            ("type", f"/properties/{token}/properties/a/type", f"/{token}/a"),
        )
        for name, token in (
            ("007", "007"),
            ("+5", "+5"),
            ("", ""),
            ("a/b~c", "a~1b~0c"),
            ("7", "7"),
        )
    ),
    (
        "draft-07",
        {"patternProperties": {"": {"items": _NULL}}},
        {"": [1]},
        ("type", "/patternProperties//items/type", "//0"),
    ),
    (
        "draft-07",
        {"patternProperties": {"^a": _NULL}},
        {"ab": 1},
        ("type", "/patternProperties/^a/type", "/ab"),
    ),
    (
        "draft-07",
        {"additionalProperties": _NULL},
        {"a": 1},
        ("type", "/additionalProperties/type", "/a"),
    ),
    (
        "draft-07",
        {"additionalProperties": False},
        {"a": 1},
        ("additionalProperties", "/additionalProperties", ""),
    ),
    (
        "draft-07",
        {"items": [True], "additionalItems": _NULL},
        [1, 2],
        ("type", "/additionalItems/type", "/1"),
    ),
    (
        "draft-07",
        {"items": [True], "additionalItems": False},
        [1, 2],
        ("additionalItems", "/additionalItems", ""),
    ),
    (
        "2020-12",
        {"prefixItems": [{"prefixItems": [_NULL]}]},
        [[1]],
        ("type", "/prefixItems/0/prefixItems/0/type", "/0/0"),
    ),
    (
        "2020-12",
        {"prefixItems": [True], "items": False},
        [1, 2],
        ("items", "/items", "/1"),
    ),
    (
        "draft-07",
        {"properties": {"a": False}},
        {"a": 1},
        ("false", "/properties/a", "/a"),
    ),
    ("draft-07", {"allOf": [False]}, 1, ("false", "/allOf/0", "")),
    ("draft-07", False, 1, ("false", "", "")),
    (
        "draft-07",
        {"properties": {"a": {"anyOf": [_NULL, {"properties": {"b": _NULL}}]}}},
        {"a": {"b": 1}},
        ("anyOf", "/properties/a/anyOf", "/a"),
    ),
    ("draft-07", {"oneOf": [True, True]}, 1, ("oneOf", "/oneOf", "")),
    ("draft-07", {"not": {"type": "integer"}}, 1, ("not", "/not", "")),
    (
        "draft-07",
        {"items": {"if": True, "then": {"items": {"minimum": 4, "type": "string"}}}},
        [[1]],
        ("if", "/items/if", "/0"),
    ),
    ("draft-07", {"if": False, "else": False}, 1, ("if", "/if", "")),
    ("draft-07", {"contains": _NULL}, [1], ("contains", "/contains", "")),
    (
        "2020-12",
        {"contains": _NULL, "maxContains": 1},
        [None, None],
        ("maxContains", "/maxContains", ""),
    ),
    (
        "draft-07",
        {"properties": {"a": {"propertyNames": {"maxLength": 2, "pattern": "^a"}}}},
        {"a": {"bbb": 1}},
        ("propertyNames", "/properties/a/propertyNames", "/a"),
    ),
    (
        "draft-07",
        {"dependencies": {"a": ["b", "c"]}},
        {"a": 1},
        ("dependencies", "/dependencies", ""),
    ),
    (
        "draft-07",
        {"properties": {"x": {"dependencies": {"a": {"properties": {"b": _NULL}}}}}},
        {"x": {"a": 1, "b": 1}},
        ("dependencies", "/properties/x/dependencies", "/x"),
    ),
    (
        "2020-12",
        {"dependentSchemas": {"a": {"required": ["b", "c"]}}},
        {"a": 1},
        ("dependentSchemas", "/dependentSchemas", ""),
    ),
    (
        "2020-12",
        {"unevaluatedProperties": _NULL},
        {"a": 1},
        ("unevaluatedProperties", "/unevaluatedProperties", ""),
    ),
    (
        "draft-04",
        {"minimum": 3, "exclusiveMinimum": True},
        3,
        ("exclusiveMinimum", "/exclusiveMinimum", ""),
    ),
    ("draft-07", {"required": ["b", "c"]}, {}, ("required", "/required", "")),
    (
        "2019-09",
        {"$recursiveAnchor": True, "items": {"$recursiveRef": "#"}, "maxItems": 1},
        [[1, 2]],
        ("maxItems", "/maxItems", "/0"),
    ),
]


@pytest.mark.parametrize(("dialect", "schema", "value", "expected"), _ONE)
def test_traces_to_one_keyword(
    dialect: str,
    schema: UntypedJson,
    value: UntypedJson,
    expected: tuple[str, str, str],
) -> None:
    """Applicators that pass on are looked through, those that decide are named."""
    found = find_violations(CompiledSchema.from_json(schema, dialect), value)
    assert list(found) == [expected]


def test_follows_references_out_of_embedded_resources() -> None:
    """A pointer leads into the record wherever identifiers change the base."""
    schema = {
        "$id": "https://example.com/root",
        "definitions": {
            "inner": {
                "$id": "https://example.com/inner",
                "definitions": {"z": {"type": "string"}},
                "properties": {"u": {"$ref": "#/definitions/z"}},
            }
        },
        "properties": {"p": {"$ref": "inner"}},
    }
    found = find_violations(
        CompiledSchema.from_json(schema, "draft-07"), {"p": {"u": 1}}
    )
    pointer = "/definitions/inner/definitions/z/type"
    assert list(found) == [("type", pointer, "/p/u")]


def test_says_where_a_standard_document_refuses() -> None:
    """A keyword outside of the record has the URI of its document."""
    schema = {"$ref": "http://json-schema.org/draft-07/schema#"}
    (found,) = find_violations(
        CompiledSchema.from_json(schema, "draft-07"), {"maxItems": "x"}
    )
    assert found.schema_pointer.startswith("http://json-schema.org/draft-07/schema#/")


def test_a_valid_value_has_no_violation() -> None:
    """What the schema accepts is no near miss."""
    compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
    assert find_violations(compiled, "a") == ()
    assert as_near_miss(compiled, "a") is None


def test_two_keywords_are_mixed() -> None:
    """Several keywords, or several values that fail, are all listed."""
    schema = {"type": "string", "enum": ["a"]}
    found = as_near_miss(CompiledSchema.from_json(schema, "draft-07"), 1)
    assert found is not None
    assert found.keyword == MIXED
    assert {each[0] for each in found.keywords} == {"type", "enum"}
    every_item = {"items": {"type": "null"}}
    both = as_near_miss(CompiledSchema.from_json(every_item, "draft-07"), [1, 2])
    assert both is not None
    assert [each[2] for each in both.keywords] == ["/0", "/1"]


def test_names_that_look_alike_are_told_apart() -> None:
    """`7` and `007` are one number to jsonschema-rs, and two names."""
    names = {"7": {"type": "null"}, "007": {"type": "null"}, "": {"required": ["a"]}}
    compiled = CompiledSchema.from_json({"properties": names}, "draft-07")
    found = find_violations(compiled, {"7": 1, "007": 1, "": {}})
    assert {each.instance_pointer for each in found} == {"/7", "/007", "/"}


def test_one_keyword_said_twice_is_one_violation() -> None:
    """Two schemas that ask the same of one value name one keyword."""
    schema = {"allOf": [{"type": "string"}, {"type": ["string", "null"]}]}
    found = as_near_miss(CompiledSchema.from_json(schema, "draft-07"), 1)
    assert found is not None
    assert (found.keyword, found.schema_pointer) == ("type", "/allOf/0/type")
    assert len(found.keywords) == 2


def test_a_property_without_a_name_ends_both_pointers() -> None:
    """`properties` and the schema of the empty name in it look alike without names."""
    schema = {"properties": {"": {"required": ["a"], "type": "object"}}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert list(find_violations(compiled, {"": {}})) == [
        ("required", "/properties//required", "/")
    ]
