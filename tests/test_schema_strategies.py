"""Drawn schemas are valid in their dialect, and their instances labelled rightly."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import read_schema
from curation.instances.near_misses.search import find_near_misses
from curation.instances.search.witnesses import find_witnesses
from curation.schema.dialects import BY_NAME, DIALECTS
from curation.validation.metaschemas import is_valid
from tests.schema_strategies import schemas

NAMES = [each.name for each in DIALECTS]
RELAXED = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@RELAXED
@given(data=st.data())
def test_schemas_are_valid_in_their_dialect(name: str, data: st.DataObject) -> None:
    """Every schema passes its metaschema, names its dialect, and can be used."""
    schema = data.draw(schemas(name, satisfiable=False))
    assert is_valid(schema, BY_NAME[name])
    assert schema["$schema"] == BY_NAME[name].uri
    CompiledSchema.from_json(schema, name).validator.is_valid(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@RELAXED
@given(data=st.data())
def test_instances_are_labelled_rightly(name: str, data: st.DataObject) -> None:
    """The validator takes the witnesses of a drawn schema and refuses near misses."""
    schema = data.draw(schemas(name, leaves=6))
    compiled = read_schema(json.dumps(schema), name)
    assert not isinstance(compiled, Rejected)
    witnesses = find_witnesses(compiled).witnesses
    assert witnesses
    validator = CompiledSchema.from_json(schema, name)
    assert all(validator.is_valid(witness.value) for witness in witnesses)
    for miss in find_near_misses(compiled, witnesses[:1], 0):
        assert not validator.is_valid(miss.value)
