"""Functions of the Berkeley leaderboard, in the layout of its wheel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.sources import bfcl
from curation.system.errors import BadData
from tests.curation.sources.given import Held, reading

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

FOLDER = "bfcl_eval/data/"


def function(name: str, parameters: UntypedJson, said: str = "") -> UntypedJson:
    """Return a definition."""
    return {"name": name, "description": said, "parameters": parameters}


def lines(*values: UntypedJson) -> bytes:
    """Return values one a line."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "any"}, {}),
        ({"type": "tuple", "items": {"type": "any"}}, {"type": "array", "items": {}}),
        (
            {"type": "dict", "properties": {"type": {"type": "String"}}},
            {"type": "object", "properties": {"type": {"type": "string"}}},
        ),
        (
            {"additionalProperties": {"type": "long"}, "default": {"type": "dict"}},
            {"additionalProperties": {"type": "integer"}, "default": {"type": "dict"}},
        ),
        ({"type": "Widget"}, {"type": "Widget"}),
        ({"type": ["dict"]}, {"type": ["dict"]}),
    ],
)
def test_types_are_those_of_json_schema(theirs: UntypedJson, ours: UntypedJson) -> None:
    """Where a type stands as a keyword; what is unknown is left to the rules."""
    assert bfcl.in_json_schema(theirs) == ours


def test_each_definition_is_read_once() -> None:
    """By name and schema, from questions and from lists of functions, not answers."""
    one = function("math.add", {"type": "dict"}, "first")
    files = {
        f"{FOLDER}BFCL_v4_a.json": lines({"id": "a", "function": [one]}),
        f"{FOLDER}BFCL_v4_b.json": lines(
            {"function": [function("math.add", {"type": "dict"}), function("b c", {})]}
        ),
        f"{FOLDER}multi_turn_func_doc/m.json": lines(function("m", {"type": "float"})),
        f"{FOLDER}possible_answer/BFCL_v4_a.json": lines(function("x", {})),
    }
    found = list(bfcl.read(reading("bfcl-eval", Held(files))))
    assert [raw.unique_id.rpartition("_")[0] for raw in found] == [
        "b_c",
        "m",
        "math.add",
    ]
    assert found[2].content == b'{"type": "object"}'
    assert found[2].provenance.path == f"{FOLDER}BFCL_v4_a.json#1/function/0"
    assert {raw.config for raw in found} == {"BFCL"}
    assert bfcl.SOURCE.extra


def test_a_broken_line_is_named() -> None:
    """The pin makes it impossible, a mirror's own file does not."""
    files = Held({f"{FOLDER}BFCL_v4_a.json": b'{"a": 1}\n{'})
    with pytest.raises(BadData, match="line 2"):
        list(bfcl.read(reading("bfcl-eval", files)))
