"""Which keywords can refuse an instance, and how an instance gets to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.assertions import (
    false_locations,
    find_reachable_keywords,
    goals_below,
)
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjoin import conjoin
from curation.instances.near_misses.sites import count_entered_schemas

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.assertions import Path


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


def test_a_search_that_is_cut_short_says_so() -> None:
    """With more conjunctions than are visited, the result is not complete."""
    schema = {"properties": {name: {"minimum": ord(name)} for name in "abc"}}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    assert not find_reachable_keywords(compiled, most=2).complete


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
    assert count_entered_schemas(compiled, compiled.root) > 2**10
