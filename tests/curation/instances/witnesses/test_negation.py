"""Denials: for every keyword there is a way to fail it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.goals import Negation
from curation.instances.constraints.minimal_depth import minimal_depth
from curation.instances.model import InstanceKind
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import NOTHING
from curation.instances.witnesses.negation import ways_to_fail
from tests.curation.instances.keywords import cases

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_CASES = [
    each for each in cases() if "const" not in str(each[2]) or each[0] != "draft-04"
]


@pytest.mark.parametrize(("dialect", "keyword", "schema"), _CASES)
def test_every_keyword_can_be_failed(
    dialect: str, keyword: str, schema: UntypedJson
) -> None:
    """A value is found that the schema refuses."""
    compiled = CompiledSchema.from_json(schema, dialect)
    rng = random.Random(1)
    builder = WitnessBuilder(
        compiled=compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=2_000
    )
    value = builder.value((Negation(compiled.root),))
    assert value is not NOTHING
    assert not compiled.is_valid(value)


@pytest.mark.parametrize("schema", [True, {}, {"title": "anything"}])
def test_what_accepts_everything_cannot_be_failed(schema: UntypedJson) -> None:
    """There is no way to fail a schema that asserts nothing."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert ways_to_fail(compiled, compiled.root) == []


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
