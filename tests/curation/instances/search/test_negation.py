"""Denials: for every keyword there is a way to fail it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import Negation
from curation.instances.search.builder import WitnessBuilder
from curation.instances.search.context import NOTHING
from curation.instances.search.negation import ways_to_fail
from curation.instances.values.model import InstanceKind
from tests.curation.instances.keywords import cases

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_CASES = [
    each for each in cases() if "const" not in str(each[2]) or each[0] != "draft-04"
]


def test_every_keyword_can_be_failed(subtests: pytest.Subtests) -> None:
    """A value is found that the schema refuses."""
    for dialect, _, schema in _CASES:
        with subtests.test(dialect=dialect, schema=schema):
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
