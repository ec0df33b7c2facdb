"""A text is trivial where it says next to nothing of what its schema could ask for."""

from __future__ import annotations

import json

import pytest

from evaluation.answers.judge import is_trivial

_SCHEMA = json.dumps(
    {
        "anyOf": [
            {"enum": ["low", "high"]},
            {"const": "slack"},
            {"type": ["object", "array", "string", "boolean", "null", "integer"]},
        ],
        "required": ["tide", "undeclared"],
        "properties": {"tide": {}, "when": {}},
    }
)


@pytest.mark.parametrize(
    ("value", "trivial"),
    [
        (None, True),
        (True, True),
        (False, True),
        ([], True),
        ({}, True),
        ("low", True),
        ("slack", True),
        ({"tide": 1}, True),
        ("a long story", False),
        (7, False),
        (["low"], False),
        ({"tide": 1, "when": "now"}, False),
        ({"other": 1}, False),
    ],
)
def test_what_says_next_to_nothing_is_trivial(value: object, *, trivial: bool) -> None:
    """Bare constants, what an enum spells out, and nothing but what is required."""
    assert is_trivial(value, _SCHEMA) is trivial  # type: ignore[arg-type]  # JSON


@pytest.mark.parametrize("schema", ["true", "{}", '{"required": 7}', '{"enum": {}}'])
def test_any_schema_is_looked_through(schema: str) -> None:
    """A boolean, and keywords of another form, spell nothing out."""
    assert not is_trivial("low", schema)
    assert not is_trivial({"tide": 1}, schema)
    assert is_trivial(None, schema)


def test_what_is_required_is_not_trivial_where_there_is_nothing_else() -> None:
    """A schema that knows only required members asks for no more."""
    schema = '{"required": ["tide"], "properties": {"tide": {}}}'
    assert not is_trivial({"tide": 1}, schema)
