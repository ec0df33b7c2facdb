"""Conjunctions: what one value of an instance must meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjoin import conjoin, contradiction
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Conjunction


def _conjunction(schema: UntypedJson, dialect: str = "draft-07") -> Conjunction:
    compiled = CompiledSchema.from_json(schema, dialect)
    return conjoin(compiled, (compiled.root,))


def test_references_and_all_of_are_merged() -> None:
    """References, allOf and siblings become one set of bounds."""
    conjunction = _conjunction(
        {
            "$defs": {"a": {"minimum": 3, "allOf": [{"maximum": 9}]}},
            "$ref": "#/$defs/a",
            "type": "integer",
            "maximum": 12,
        },
        "2020-12",
    )
    assert (conjunction.types, conjunction.minimum, conjunction.maximum) == (
        ("integer",),
        3,
        9,
    )


def test_a_count_spelled_as_a_float_is_an_integer() -> None:
    """A length cuts a text, and `maxLength: 2.0` is one as much as 2."""
    conjunction = _conjunction({"maxLength": 2.0, "minItems": 1.0, "maximum": 2.5})
    counts = (conjunction.max_length, conjunction.min_items)
    assert counts == (2, 1)
    assert all(type(count) is int for count in counts)
    assert conjunction.maximum == 2.5


def test_a_reference_hides_its_siblings_up_to_draft_07() -> None:
    """Beside `$ref` nothing counts in the old drafts."""
    schema = {"definitions": {"a": {}}, "$ref": "#/definitions/a", "minimum": 3}
    assert _conjunction(schema, "draft-07").minimum is None
    assert _conjunction(schema, "2019-09").minimum == 3


def test_old_exclusive_bounds_are_flags() -> None:
    """Draft-04's boolean exclusiveMinimum turns minimum into an open bound."""
    conjunction = _conjunction({"minimum": 3, "exclusiveMinimum": True}, "draft-04")
    assert (conjunction.minimum, conjunction.exclusive_minimum) == (None, 3)


def test_numbers_include_integers() -> None:
    """The types number and integer have the integers in common."""
    assert _conjunction({"allOf": [{"type": "number"}, {"type": "integer"}]}).types == (
        "integer",
    )


def test_values_are_intersected() -> None:
    """Of several enums what is in all, and admitted by the rest, is left."""
    conjunction = _conjunction(
        {"enum": [1, 2, "a", 3.0], "allOf": [{"enum": [3, 2, "b"]}]}
    )
    assert conjunction.values == [2, 3.0]
    assert _conjunction({"enum": [1, "a"], "type": "string"}).values == ["a"]


def test_const_means_nothing_in_draft_04() -> None:
    """What a draft does not know is not read."""
    assert _conjunction({"const": 1}, "draft-04").values is None


def _pointers(goals: object) -> list[str]:
    assert isinstance(goals, tuple)
    return [each.pointer for each in goals if isinstance(each, SchemaLocation)]


def test_a_property_meets_everything_that_matches() -> None:
    """`properties` and `patternProperties` apply together, the rest only else."""
    conjunction = _conjunction(
        {
            "properties": {"ab": {"type": "null"}},
            "patternProperties": {"^a": {"minimum": 1}},
            "additionalProperties": {"maximum": 3},
        }
    )
    assert _pointers(conjunction.member_goals("ab")) == [
        "/properties/ab",
        "/patternProperties/^a",
    ]
    assert _pointers(conjunction.member_goals("x")) == ["/additionalProperties"]


def test_a_closed_object_has_no_other_property() -> None:
    """A name that must not be has no goals at all."""
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    assert _conjunction(schema).member_goals("b") is None
    assert _conjunction(schema).member_goals("a") == ()


def test_unevaluated_looks_at_what_applies_inside_only() -> None:
    """Cousins do not evaluate for each other (2020-12 core, section 11)."""
    closed = {"properties": {"b": {}}, "unevaluatedProperties": False}
    conjunction = _conjunction({"properties": {"a": {}}, "allOf": [closed]}, "2020-12")
    assert conjunction.member_goals("a") is None
    conjunction = _conjunction(
        {"allOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": closed}}, "2020-12"
    )
    assert conjunction.member_goals("b") == ()


@pytest.mark.parametrize(
    ("dialect", "keyword", "rest"),
    [("draft-07", "items", "additionalItems"), ("2020-12", "prefixItems", "items")],
)
def test_elements_have_schemas(dialect: str, keyword: str, rest: str) -> None:
    """The first elements have schemas of their own, the rest share one."""
    schema = {keyword: [{"type": "null"}], rest: {"type": "string"}}
    conjunction = _conjunction(schema, dialect)
    assert _pointers(conjunction.member_goals(0)) == [f"/{keyword}/0"]
    assert _pointers(conjunction.member_goals(5)) == [f"/{rest}"]


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "integer", "minimum": 3, "exclusiveMaximum": 3},
        {"type": "array", "minItems": 2, "maxItems": 1},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"enum": [1, 2], "type": "string"},
        {"not": {}},
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "string", "enum": [1]}},
        },
    ],
)
def test_plain_contradictions_are_seen(schema: UntypedJson) -> None:
    """What plainly contradicts itself is said to, with a reason."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert contradiction(compiled, conjoin(compiled, (compiled.root,)))
