"""The question is the published one: a task line, hints, the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Record
from evaluation.suites.passrate.prompts import hints, prompt, question
from evaluation.suites.passrate.settings import PassrateSettings, as_published

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """{
  "properties": {
    "dimensions": {"properties": {"width": {"type": "number"}}, "type": "object"},
    "shape": {"type": "string"}
  },
  "required": ["shape", "dimensions"],
  "type": "object"
}"""


def test_the_question_is_that_of_the_document() -> None:
    """Fields in the order of `properties`, and the schema with an indent of two."""
    lines = question(_SCHEMA, "calculate_area_88ee549f", PassrateSettings()).split("\n")
    assert lines[:5] == [
        "Generate a valid JSON object (task: calculate_area_88ee549f)",
        "Fields: 'dimensions' (object) [REQUIRED]; 'shape' (string) [REQUIRED]",
        "",
        "Required JSON Schema:",
        "{",
    ]
    assert json.loads("\n".join(lines[4:])) == json.loads(_SCHEMA)
    assert lines[5] == '  "properties": {'


def test_title_and_description_stand_before_the_task_line() -> None:
    """Where the schema has them, and where the reading is the recommended one."""
    schema = '{"title": "A  deck.", "description": "Of a\\nferry", "type": "object"}'
    first = question(schema, "x", PassrateSettings()).split("\n")[0]
    assert first == "A deck. Of a ferry. Generate a valid JSON object (task: x)"
    published = question(schema, "x", as_published(PassrateSettings())).split("\n")
    assert published[:2] == ["Generate a valid JSON object (task: x)", ""]


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": ["string", "null"]}, "string|null"),
        ({"enum": [1, "a", 2]}, "integer|string"),
        ({"const": True}, "boolean"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"$ref": "#/$defs/n"}, "number"),
        ({"$ref": "#/$defs/gone"}, "any"),
        ({"$ref": "https://example.test/x"}, "any"),
        (True, "any"),
        ({}, "any"),
    ],
)
def test_a_type_that_is_not_stated_is_inferred(schema: object, named: str) -> None:
    """From values, members, items, or where a reference leads."""
    root = {"properties": {"a": schema}, "$defs": {"n": {"type": "number"}}}
    assert hints(root, 20) == f"'a' ({named})"  # type: ignore[arg-type] # any schema


def test_required_fields_are_kept_first_and_shown_in_order() -> None:
    """No more than asked for; 0 leaves the line out."""
    root = {"properties": {name: {} for name in "abcd"}, "required": ["d", "b"]}
    assert hints(root, 3) == "'a' (any); 'b' (any) [REQUIRED]; 'd' (any) [REQUIRED]"  # type: ignore[arg-type] # as above
    assert hints(root, 0) == ""  # type: ignore[arg-type] # as above


def test_shots_are_turns_before_the_question() -> None:
    """Each a question of the same form with an answer that its schema accepts."""
    record = Record(id="x", schema=_SCHEMA)
    asked = prompt(record, PassrateSettings(shots=2))
    assert [message.role for message in asked.messages] == [
        "system",
        *("user", "assistant") * 2,
        "user",
    ]
    json.loads(asked.messages[2].content)


def test_a_system_prompt_of_ones_own_is_a_text_file(tmp_path: Path) -> None:
    """What an editor puts before it is no part of it."""
    file = tmp_path / "system.txt"
    file.write_text("Be brief.\n", "utf-8-sig")
    asked = prompt(Record(id="x"), PassrateSettings(system=str(file)))
    assert asked.messages[0].content == "Be brief."
