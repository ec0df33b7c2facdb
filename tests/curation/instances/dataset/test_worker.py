"""The worker of instances: what it holds from one schema to the next."""

from __future__ import annotations

import gc
import json

import msgspec

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset.worker import InstanceRequest, start

_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "format": "date"} for name in "abcdefgh"},
    "required": ["a"],
    "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
}


def _alive() -> list[CompiledSchema]:
    return [each for each in gc.get_objects() if type(each) is CompiledSchema]


def test_nothing_of_a_schema_is_left_when_it_is_done() -> None:
    """Its parts refer to each other, and are collected before the next one comes."""
    # Held here, so that none of them is taken for a new one, whoever lets go of it.
    before = _alive()
    known = set(map(id, before))
    try:
        handle = start({"seed": 0})
        for dialect in ("draft-07", "2020-12", ""):
            unit = InstanceRequest(schema=json.dumps(_SCHEMA), dialect=dialect)
            answer = handle(msgspec.to_builtins(unit))
            assert isinstance(answer, dict)
            assert answer["instances"]
            assert known.issuperset(map(id, _alive()))
    finally:
        gc.enable()
