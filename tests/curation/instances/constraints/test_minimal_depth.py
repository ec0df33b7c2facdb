"""How deep the shallowest value of a schema nests, as a bound and as a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.minimal_depth import likely_depth, minimal_depth

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_heights_count_what_is_required() -> None:
    """A place is as high as its required properties make it."""
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "minItems": 1, "items": {"type": "null"}},
            "b": {"$ref": "#"},
        },
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert minimal_depth(compiled, compiled.root) == 2


def test_what_never_ends_is_infinitely_high() -> None:
    """A place that requires itself has no height; a way out gives it one."""
    inner = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}
    endless = CompiledSchema.from_json(inner, "draft-07")
    assert minimal_depth(endless, endless.root) == float("inf")
    ending = CompiledSchema.from_json({"anyOf": [inner, {"type": "null"}]}, "draft-07")
    assert minimal_depth(ending, ending.root) == 0


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"additionalProperties": False}, 1),
        ({"additionalProperties": False, "minProperties": 0}, 0),
        ({"additionalProperties": {}}, 0),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, 0),
        ({"additionalProperties": False, "required": ["a"]}, float("inf")),
    ],
)
def test_an_object_with_one_of_the_declared_properties_has_the_shallowest(
    schema: UntypedJson, least: float
) -> None:
    """Where it must have one, and no other; the recursive one is not needed."""
    whole = {
        "type": "object",
        "minProperties": 1,
        "properties": {"a": {"$ref": "#"}, "b": {"type": "string"}},
        **schema,
    }
    compiled = CompiledSchema.from_json(whole, "draft-07")
    assert minimal_depth(compiled, compiled.root) == least


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"minItems": 1, "items": {"$ref": "#"}},
    ],
)
def test_what_names_no_type_is_met_by_a_scalar_and_meant_for_another(
    schema: UntypedJson,
) -> None:
    """The bound says that a string does; the guess that the schema never ends."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert minimal_depth(compiled, compiled.root) == 0
    assert likely_depth(compiled, compiled.root) == float("inf")
