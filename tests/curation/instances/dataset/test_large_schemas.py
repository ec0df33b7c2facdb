"""Large schemas: what they cost, by generated ones as dense as FHIR's."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset import worker
from curation.instances.dataset.make_instances import make_instances
from curation.instances.dataset.worker import InstanceRequest, program
from curation.lint.satisfiability import Satisfiability
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.worker import Worker

if TYPE_CHECKING:
    from curation.core.json_types import Json


def resources(count: int) -> dict[str, Json]:
    """Return a schema of resources, each of which may contain any of them."""
    rng = random.Random(count)
    names = [f"Resource{number}" for number in range(count)]
    any_of_them: Json = {"oneOf": [{"$ref": f"#/definitions/{name}"} for name in names]}
    definitions: dict[str, Json] = {"Any": any_of_them}
    for name in names:
        fields: dict[str, Json] = {
            f"field{number}": {
                "type": "string",
                "pattern": f"^[a-z]{{1,{number + 1}}}$",
            }
            for number in range(12)
        }
        definitions[name] = {
            "type": "object",
            "properties": {
                "kind": {"const": name},
                **fields,
                "next": {"$ref": f"#/definitions/{rng.choice(names)}"},
                "contained": {"type": "array", "items": {"$ref": "#/definitions/Any"}},
            },
            "required": ["kind"],
            "additionalProperties": False,
        }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
        "$ref": "#/definitions/Any",
    }


@pytest.mark.slow
def test_memory_does_not_grow_with_schemas_times_schemas() -> None:
    """Each branch leads to all the others; a validator for each would be 400 MB."""
    limits = Limits(memory_mb=96, seconds=60.0, wall_times=8.0)
    request = InstanceRequest(
        schema=json.dumps(resources(150)), dialect="", lean=True, covering=2
    )
    with Worker(program(), limits) as child:
        result = child.ask(request)
    assert result.ending is Ending.OK, result.detail


def test_shared_and_single_validators_agree() -> None:
    """A value is judged alike by one of the first subschemas asked and a later one."""
    schema = resources(30)
    shared = CompiledSchema.from_json(schema, "draft-07")
    places = [
        shared.location_at(("definitions", "Any", "oneOf", str(n))) for n in range(30)
    ]
    values: list[Json] = [{"kind": f"Resource{n}"} for n in range(30)]
    for number, place in enumerate(places):
        accepted = [shared.accepts(place, value) for value in values]
        assert accepted == [other == number for other in range(30)]


def test_time_grows_as_the_schema_does() -> None:
    """Four times the resources take less than nine times the processor time."""

    def seconds(count: int) -> float:
        compiled = CompiledSchema.from_json(resources(count), "draft-07")
        value: Json = {"kind": "Resource0"}
        start = time.process_time()
        for number in range(count):
            place = ("definitions", "Any", "oneOf", str(number))
            compiled.accepts(compiled.location_at(place), value)
        return time.process_time() - start

    seconds(40)
    assert seconds(320) < 9 * max(seconds(80), 0.01)


def test_a_huge_schema_gets_witnesses_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The detail says why there are no near misses."""
    made = make_instances(json.dumps(resources(8)))
    assert made.near_misses
    monkeypatch.setattr("curation.instances.dataset.make_instances.HUGE", 1_000)
    made = make_instances(json.dumps(resources(8)))
    assert made.answer is Satisfiability.SATISFIABLE
    assert made.near_misses == ()
    assert made.detail == "without near misses: more than 1,000 characters"


def test_a_file_over_the_limit_is_too_large_and_not_cut() -> None:
    """A reader stops one byte after the limit: what it has is no JSON any more."""
    requests = [InstanceRequest(schema='"' + "x" * Limits().document_bytes, dialect="")]
    (made,) = worker.witnesses_of_each(requests)
    assert made.reason == "too_large"
