"""The stream of values that benchmarks draw from."""

from __future__ import annotations

from itertools import islice

from bench.data.value_stream import stream
from curation.instances.constraints.compiled_schema import CompiledSchema

_PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
}


def test_a_stream_goes_on() -> None:
    """A stream yields as many values as are asked for, mostly distinct."""
    compiled = CompiledSchema.from_json(_PERSON, "draft-07")
    values = [str(each) for each in islice(stream(compiled), 50)]
    assert len(set(values)) > 25


def test_a_stream_ends_where_there_is_nothing() -> None:
    """Of a schema that nothing meets the stream is empty."""
    assert list(stream(CompiledSchema.from_json(False, "draft-07"))) == []  # noqa: FBT003 (a schema)
