"""Positions at which near misses fail: exact where a keyword shows it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from bench.data.value_stream import stream
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.positions import fails_at
from curation.instances.constraints.violations import as_near_miss
from curation.instances.near_misses.search import find_near_misses
from curation.instances.search.witnesses import find_witnesses
from curation.instances.values.json_text import text_of
from tests.curation.instances.keywords import cases

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson

_A: UntypedJson = {"properties": {"a": {"type": "integer"}}}
#: Schema, instance, and its text up to the character with which it fails.
_CASES: list[tuple[UntypedJson, Json, str]] = [
    (_A, {"b": 1, "a": "x"}, '{"b": 1, "a": "'),
    (_A, {"a": 7.25}, '{"a": 7.'),
    (_A, {"é": "ü", "a": None}, '{"é": "ü", "a": n'),
    ({"enum": ["open", "closed"]}, "opened", '"opene'),
    ({"enum": ["open", "closed"]}, "clos", '"clos"'),
    ({"const": [1, 2]}, [1, 3], "[1, 3"),
    ({"items": {"maximum": 7}}, [1, 8, 2], "[1, 8,"),
    ({"items": {"maxLength": 2}}, ['a"b'], '["a\\"b'),
    ({"items": {"minLength": 2}}, ["a", "bc"], '["a"'),
    ({"maxItems": 2}, [1, 2, 3, 4], "[1, 2,"),
    ({"maxItems": 0}, [1], "[1"),
    ({"minItems": 3}, [1, 2], "[1, 2]"),
    ({"uniqueItems": True}, ["a", "b", "a", "c"], '["a", "b", "a"'),
    ({"uniqueItems": True}, [1, True, 1, 2], "[1, True, 1,".replace("T", "t")),
    ({"required": ["a"]}, {"b": {}}, '{"b": {}}'),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, '{"a": 1,'),
    ({**_A, "additionalProperties": False}, {"a": 1, "as": 2}, '{"a": 1, "as"'),
    ({"propertyNames": {"maxLength": 1}}, {"a": 1, "bc": 2}, '{"a": 1, "bc"'),
    ({"items": [{}], "additionalItems": False}, [1, 2], "[1,"),
    ({"anyOf": [{"type": "string"}, {"type": "array"}]}, {"a": 1}, "{"),
    ({"anyOf": [{"type": "string"}, {"minItems": 2}]}, [1], "[1]"),
    ({"properties": {"a": False}}, {"b": 1, "a": 2}, '{"b": 1, "a": 2'),
]


@pytest.mark.parametrize(("schema", "value", "text"), _CASES)
def test_the_position_is_that_of_the_deciding_character(
    schema: UntypedJson, value: Json, text: str
) -> None:
    """One character less could still become a valid instance."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    near_miss = as_near_miss(compiled, value)
    assert near_miss is not None
    assert text_of(value)[: fails_at(compiled, near_miss) + 1] == text


def test_no_valid_instance_begins_like_a_near_miss(subtests: pytest.Subtests) -> None:
    """Whatever follows the character with which it fails."""
    for dialect, _, schema in cases():
        with subtests.test(dialect=dialect, schema=schema):
            compiled = CompiledSchema.from_json(schema, dialect)
            witnesses = find_witnesses(compiled).witnesses
            valid = {text_of(value) for value in islice(stream(compiled, 1), 60)}
            valid |= {text_of(witness.value) for witness in witnesses}
            for near_miss in find_near_misses(compiled, witnesses):
                text, position = text_of(near_miss.value), fails_at(compiled, near_miss)
                assert 0 <= position <= len(text)
                if position < len(text):
                    assert not any(
                        other.startswith(text[: position + 1]) for other in valid
                    )
