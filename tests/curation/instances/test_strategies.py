"""The public strategies: valid schemas, accepted instances, refused near misses."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.strategies import (
    UnusableSchemaError,
    instances,
    schemas,
    violations,
)
from curation.schema.dialects import BY_NAME, DIALECTS
from curation.validation.metaschemas import is_valid

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

NAMES = [each.name for each in DIALECTS]
PERSON = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]+$", "maxLength": 8},
        "born": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 2},
    },
    "required": ["name"],
    "additionalProperties": False,
}
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


@pytest.mark.parametrize("name", NAMES)
@RELAXED
@given(data=st.data())
def test_an_instance_is_accepted(name: str, data: st.DataObject) -> None:
    """What is drawn of a drawn schema, the validator accepts."""
    schema = data.draw(schemas(name, leaves=6))
    value = data.draw(instances(schema))
    assert CompiledSchema.from_json(schema, name).is_valid(value)


@RELAXED
@given(missed=violations(PERSON))
def test_a_violation_is_refused_for_its_keyword(missed: UntypedJson) -> None:
    """Nothing but the keyword that it names holds against it."""
    errors = CompiledSchema.from_json(PERSON, "draft-07").errors(missed.value)
    assert {each.keyword for each in errors} == {missed.keyword}


@RELAXED
@given(missed=violations(PERSON, keyword="maxItems"))
def test_violations_of_one_keyword(missed: UntypedJson) -> None:
    """Only the wanted keyword refuses."""
    assert missed.keyword == "maxItems"
    assert len(missed.value["tags"]) > 2


def test_instances_shrink_to_what_is_required() -> None:
    """The simplest value has no optional property."""
    simplest = find(instances(PERSON), lambda _: True)
    assert isinstance(simplest, dict)
    assert simplest.keys() == {"name"}


def test_what_has_no_instance_is_refused_at_once() -> None:
    """The fault comes when the strategy is made, not when it is drawn from."""
    with pytest.raises(UnusableSchemaError):
        instances({"type": "string", "enum": [1]})
    with pytest.raises(UnusableSchemaError):
        instances({"$ref": "https://example.com/elsewhere"})
    with pytest.raises(UnusableSchemaError, match="minimum refuses nothing"):
        violations(PERSON, keyword="minimum")


def test_without_hypothesis_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The module needs it."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "curation.instances.strategies")
    with pytest.raises(
        ModuleNotFoundError, match=r"pip install .csbdata\[strategies\]"
    ):
        import_module("curation.instances.strategies")
