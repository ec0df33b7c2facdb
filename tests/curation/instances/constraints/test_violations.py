"""Labels: what a value violates, at which keyword and place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.instances.judging.violations import (
    MIXED,
    as_near_miss,
    fails_at,
    find_violations,
)
from curation.instances.model import to_text
from curation.instances.near_misses.assertions import (
    false_locations,
    find_reachable_keywords,
    goals_below,
)
from curation.instances.witnesses.reach import count_entered_schemas
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.near_misses.assertions import Path


#: Dialect, schema, value, and the one violation: keyword, schema and instance pointer.
_ONE: list[tuple[str, UntypedJson, UntypedJson, tuple[str, str, str]]] = table(
    __file__, "violations"
)


@pytest.mark.parametrize(("dialect", "schema", "value", "expected"), _ONE)
def test_traces_to_one_keyword(
    dialect: str,
    schema: UntypedJson,
    value: UntypedJson,
    expected: tuple[str, str, str],
) -> None:
    """Applicators that pass on are looked through, those that decide are named."""
    found = find_violations(CompiledSchema.from_json(schema, dialect), value)
    assert list(found) == [tuple(expected)]


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


#: Schema, instance, and its text up to the character with which it fails.
_CASES: list[tuple[UntypedJson, Json, str]] = table(__file__, "positions")


@pytest.mark.parametrize(("schema", "value", "text"), _CASES)
def test_the_position_is_that_of_the_deciding_character(
    schema: UntypedJson, value: Json, text: str
) -> None:
    """One character less could still become a valid instance."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    near_miss = as_near_miss(compiled, value)
    assert near_miss is not None
    assert to_text(value)[: fails_at(compiled, near_miss) + 1] == text


def _paths(schema: UntypedJson) -> dict[str, list[Path]]:
    compiled = CompiledSchema.from_json(schema, "2020-12")
    found = find_reachable_keywords(compiled)
    assert found.complete
    return {
        assertion.pointer: [location.path for location in locations]
        for assertion, locations in found.assertions.items()
    }


def test_references_and_members_are_followed() -> None:
    """A definition that is used twice has one assertion, and two ways to it."""
    schema = {
        "$defs": {"n": {"minimum": 1}, "unused": {"maximum": 1}},
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "items": {"$ref": "#/$defs/n"},
    }
    assert _paths(schema) == {"/$defs/n/minimum": [("a",), (0,)]}


def test_what_stands_below_a_deciding_keyword_is_not_reached() -> None:
    """It is anyOf that fails, not what is in its branches."""
    assert _paths({"anyOf": [{"minimum": 1}, {"type": "string"}]}) == {"/anyOf": [()]}


def test_a_schema_that_is_false_is_an_assertion_by_itself() -> None:
    """The pointer is that of the schema, for there is no keyword."""
    assert _paths({"properties": {"a": False}}) == {"/properties/a": [("a",)]}


def test_a_pattern_and_additional_properties_are_reached_by_made_up_names() -> None:
    """The first name matches the pattern, the second is neither."""
    schema = {
        "patternProperties": {"^x$": {"type": "null"}},
        "additionalProperties": {"type": "string"},
    }
    assert _paths(schema) == {
        "/patternProperties/^x$/type": [("x",)],
        "/additionalProperties/type": [("extra",)],
    }


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more conjunctions than are visited, the result is not complete."""
    schema = {"properties": {name: {"minimum": ord(name)} for name in "abc"}}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    monkeypatch.setattr("curation.instances.near_misses.assertions._MAX", 2)
    assert not find_reachable_keywords(compiled).complete


def test_what_unevaluated_keywords_apply_is_left_out_below() -> None:
    """They decide by themselves, and so nothing below them is an assertion."""
    schema = {"properties": {"a": {}}, "unevaluatedProperties": {"type": "null"}}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    conjunction = conjoin(compiled, (compiled.root,))
    assert conjunction.member_goals("b")
    assert goals_below(conjunction, "b") == ()


def test_elements_are_forbidden_by_index() -> None:
    """A `false` of `prefixItems` forbids the element of its index only."""
    compiled = CompiledSchema.from_json({"prefixItems": [True, False]}, "2020-12")
    conjunction = conjoin(compiled, (compiled.root,))
    assert false_locations(conjunction, 0) == []
    (location,) = false_locations(conjunction, 1)
    assert location.pointer == "/prefixItems/1"


def test_chained_definitions_double_what_is_entered() -> None:
    """Each link refers to the next one twice."""
    links: UntypedJson = {
        str(link): {"anyOf": [{"$ref": f"#/$defs/{link + 1}"}] * 2}
        for link in range(10)
    }
    schema = {"$defs": {**links, "10": {}}, "$ref": "#/$defs/0"}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    assert count_entered_schemas(compiled) > 2**10
