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


@pytest.mark.parametrize(
    ("accepted", "schema", "texts"),
    [
        ({"n": [1, 2]}, {}, ['{"n": 1}', '{"n": 2}']),
        ({"n": [1], "unit": ["m", ""]}, {}, ['{"n": 1, "unit": "m"}', '{"n": 1}']),
        ({"note": [""]}, {"required": ["note"]}, ['{"note": ""}']),
        (
            {"at": [{"x": [1, 2], "y": [3, ""]}]},
            {"properties": {"at": {"type": "object"}}},
            ['{"at": {"x": 1, "y": 3}}', '{"at": {"x": 2}}'],
        ),
        (
            {"at": [[{"x": [1]}, {"x": [2]}]]},
            {"properties": {"at": {"type": "array"}}},
            ['{"at": [{"x": 1}, {"x": 2}]}'] * 2,
        ),
        ({"tags": [["a", "b"]]}, {"properties": {"tags": {"type": "array"}}}, None),
    ],
)
def test_answers_take_each_accepted_value_once(
    accepted: UntypedJson, schema: UntypedJson, texts: list[str] | None
) -> None:
    """An empty text among others leaves a parameter out; objects hold choices too."""
    found = list(bfcl.answers(accepted, schema))
    assert found[: len(texts or ())] == (texts or [])
    if texts is None:
        assert set(found) == {'{"tags": ["a", "b"]}'}


def test_a_document_has_the_answers_to_the_questions_that_call_it() -> None:
    """By the id of the question and the name of the function, each answer once."""
    files = {
        f"{FOLDER}BFCL_v4_a.json": lines(
            {"id": "a_0", "function": [function("f", {"type": "dict"})]},
            {"id": "a_1", "function": [function("f", {"type": "dict"})]},
            {"id": "a_2", "function": [function("g", {"type": "dict"})]},
            {"id": "a_3", "function": [function("h", {"type": "float"})]},
        ),
        f"{FOLDER}possible_answer/BFCL_v4_a.json": lines(
            {"id": "a_0", "ground_truth": [{"f": {"n": [1]}}, {"f": {"n": [1]}}]},
            {"id": "a_1", "ground_truth": [{"f": {"n": ["x", ""]}}]},
            {"id": "a_3", "ground_truth": ["h(1)"]},
        ),
    }
    found = {
        raw.unique_id[0]: raw.examples
        for raw in bfcl.read(reading("bfcl-eval", Held(files)))
    }
    # `g` has the schema of `f`, and so its answers.
    assert found["f"] == found["g"] == ('{"n": 1}', '{"n": "x"}', "{}")
    assert found["h"] == ()
