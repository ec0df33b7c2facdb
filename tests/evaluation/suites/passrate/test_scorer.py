"""The published question, and one class for each answer."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import msgspec
import pytest

from evaluation.core.records import Record, Response
from evaluation.suites.passrate.scorer import passrate_scorer
from evaluation.suites.passrate.suite import (
    SUITE,
    PassrateSettings,
    hints,
    question,
)
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


_PAPER = msgspec.convert({**SUITE.paper}, PassrateSettings)
_SCHEMA = {
    "type": "object",
    "properties": {"shape": {"type": "string"}, "width": {"type": "number"}},
    "required": ["shape", "width"],
}
_RECORD = Record(id="a", schema=json.dumps(_SCHEMA))
_GOOD = '{"shape": "round", "width": 10.5}'


def _class(
    text: str | None, settings: PassrateSettings | None = None, **more: str
) -> str:
    scorer = passrate_scorer(settings or PassrateSettings())
    response = Response(record="a", text=text, **more)  # type: ignore[arg-type] # as named
    return scorer(_RECORD)(response).failure_class


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_GOOD, ""),
        (_GOOD[:-1], "syntax_error"),
        ('{"shape": "round", "width": "10.5"}', "schema_violation"),
        ('{"shape": "round", "width": 1, "color": "blue"}', "hallucination"),
        ("", "empty"),
        (None, "empty"),
        (f"```json\n```json\n{_GOOD}\n```\n```", "syntax_error"),
        ('{"shape": "a", "shape": "b", "width": 1}', ""),
        ('{"shape": "\\ud800", "width": 1}', "syntax_error"),
        ('{"shape": "x", "width": NaN}', "syntax_error"),
        ("[" * 10_000 + "]" * 10_000, "syntax_error"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "syntax_error"),
        ("<think>unclosed " + _GOOD, "empty"),
        (f'{{"shape": "{"x" * 10_000_000}", "width": 1}}', ""),
        ("x" * 10_000_000, "syntax_error"),
        ("`" * 100_000, "empty"),
        ("<think>" * 50_000, "empty"),
        ("</think>" * 50_000, "empty"),
        (" " * 1_000_000, "empty"),
        ("{" + " " * 1_000_000, "syntax_error"),
        ("~" * 1_000_000, "syntax_error"),
        ("</s>" * 50_000, "syntax_error"),
        ("1e999999999", "syntax_error"),
        ("9" * 100_000, "syntax_error"),
        ("null", "schema_violation"),
        ("\ufeff" + _GOOD, ""),
    ],
    ids=lambda value: str(value)[:24] or "nothing",
)
def test_every_text_has_one_class(text: str | None, expected: str) -> None:
    """Nothing raises, whatever its size."""
    assert _class(text) == expected


_GIVEN = ("text", "reasoning", "finish", "error")
_BERTH = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 9},
        "size": {"enum": ["s", "m"]},
        "parts": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "place": {
            "type": "object",
            "properties": {"row": {"type": "integer", "minimum": 1}},
            "required": ["row"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "size", "parts", "place"],
}


def test_each_fault_has_its_class_and_reason(subtests: pytest.Subtests) -> None:
    """In both modes, of a schema without a dialect; envelopes are no faults."""
    record = Record(id="r", schema=json.dumps(_BERTH), dialect="")
    for row, mode in product(table(__file__, "faults"), ("strict", "schema")):
        given = {name: row[name] for name in _GIVEN if name in row}
        with subtests.test(row["fault"], mode=mode):
            judge = passrate_scorer(PassrateSettings(mode=mode))(record)  # type: ignore[arg-type]  # one of the two
            verdict = judge(Response(record="r", **given))
            expected = row.get(f"{mode}_mode", row["class"])
            assert verdict.failure_class == expected
            assert verdict.counted
            assert not expected or row.get("because", "") in verdict.reasons[0]


def test_members_that_stand_twice_are_told() -> None:
    """The last one counts, as parsers do, and the verdict names them."""
    scorer = passrate_scorer(PassrateSettings())
    text = '{"shape": "a", "shape": "b", "width": 1}'
    verdict = scorer(_RECORD)(Response(record="a", text=text))
    assert verdict.passed
    assert verdict.details["duplicate_members"] == ["shape"]


def test_precedence() -> None:
    """An error comes before everything, then a refusal, then the budget."""
    assert _class(_GOOD, error="HTTP 500") == "api_error"
    assert _class(_GOOD[:-1], finish="content_filter") == "syntax_error"
    assert _class("No.", finish="content_filter") == "refusal"
    assert _class(_GOOD[:-1], finish="length") == "truncated"
    assert _class("", finish="length") == "truncated"
    # What is whole and valid is no worse for a budget that ended it.
    assert _class(_GOOD, finish="length") == ""


@pytest.mark.parametrize(
    "schema", [None, "{", "7", '{"type": "nothing"}', '{"$ref": "#/x"}']
)
def test_a_schema_that_cannot_be_used_counts_nowhere(schema: str | None) -> None:
    """It is a class of its own, outside of every rate."""
    scorer = passrate_scorer(PassrateSettings())
    judge = scorer(Record(id="a", schema=schema))
    verdict = judge(Response(record="a", text="{}"))
    assert (verdict.failure_class, verdict.counted) == ("schema_error", False)


def test_both_modes_and_both_cleanings() -> None:
    """Strict forbids what the schema leaves open; the published cleaning damages."""
    extra = '{"shape": "round", "width": 1, "color": "blue"}'
    assert _class(extra, PassrateSettings(mode="schema")) == ""
    ticks = '```json\n{"shape": "a ``` b", "width": 1}\n```'
    assert _class(ticks) == ""
    published = passrate_scorer(_PAPER)
    other = Record(id="a", schema='{"const": {"shape": "a ``` b", "width": 1}}')
    assert not published(other)(Response(record="a", text=ticks)).passed


def test_formats_are_asserted_only_where_that_is_set() -> None:
    """The published harness asserted none."""
    record = Record(id="a", schema='{"format": "date"}')
    response = Response(record="a", text='"tomorrow"')
    assert passrate_scorer(PassrateSettings())(record)(response).passed
    strict = passrate_scorer(PassrateSettings(formats=True))
    assert strict(record)(response).failure_class == "schema_violation"


_NESTED = """{
  "properties": {
    "dimensions": {"properties": {"width": {"type": "number"}}, "type": "object"},
    "shape": {"type": "string"}
  },
  "required": ["shape", "dimensions"],
  "type": "object"
}"""


def test_the_question_is_that_of_the_document() -> None:
    """Fields in the order of `properties`, and the schema with an indent of two."""
    lines = question(_NESTED, "calculate_area_88ee549f", PassrateSettings()).split("\n")
    assert lines[:5] == [
        "Generate a valid JSON object (task: calculate_area_88ee549f)",
        "Fields: 'dimensions' (object) [REQUIRED]; 'shape' (string) [REQUIRED]",
        "",
        "Required JSON Schema:",
        "{",
    ]
    assert json.loads("\n".join(lines[4:])) == json.loads(_NESTED)
    assert lines[5] == '  "properties": {'


def test_title_and_description_stand_before_the_task_line() -> None:
    """Where the schema has them, and where the reading is the recommended one."""
    schema = '{"title": "A  deck.", "description": "Of a\\nferry", "type": "object"}'
    first = question(schema, "x", PassrateSettings()).split("\n")[0]
    assert first == "A deck. Of a ferry. Generate a valid JSON object (task: x)"
    published = question(schema, "x", _PAPER).split("\n")
    assert published[:2] == ["Generate a valid JSON object (task: x)", ""]


@pytest.mark.parametrize(
    ("schema", "named"),
    table(__file__, "inferred"),
)
def test_a_type_that_is_not_stated_is_inferred(schema: object, named: str) -> None:
    """From values, members, items, or where a reference leads."""
    root = {"properties": {"a": schema}, "$defs": {"n": {"type": "number"}}}
    assert hints(root) == f"'a' ({named})"  # type: ignore[arg-type] # any schema


def test_required_fields_are_kept_first_and_shown_in_order() -> None:
    """No more than twenty."""
    names = [f"p{number}" for number in range(22)]
    root = {"properties": {name: {} for name in names}, "required": ["p21", "p20"]}
    shown = hints(root)  # type: ignore[arg-type] # any schema
    fields = [f"'{name}' (any)" for name in names]
    required = [f"{field} [REQUIRED]" for field in fields[20:]]
    assert shown == "; ".join([*fields[:18], *required])
    assert hints({}) == ""


_A = {"a": {"type": "integer"}}
_OBJECT = {"type": "object", "properties": _A}
_CLOSED = {**_OBJECT, "additionalProperties": False}

#: Name, schema, answer with `EXTRA` where the undeclared member goes, and the class
#: of an answer with it: strict, schema.
ROWS: list[tuple[str, UntypedJson, str, str, str]] = table(__file__, "rows")


def test_the_truth_table(subtests: pytest.Subtests) -> None:
    """Only members too many: a hallucination or none; anything else: a violation."""
    booleans, modes = (False, True), ("strict", "schema")
    for row, extra, other, mode in product(ROWS, booleans, booleans, modes):
        name, schema, answer, strict, lenient = row
        text = answer.replace(" EXTRA", ', "extra": 7' if extra else "")
        if other and "A" not in text:
            continue  # Nothing in it can be wrong.
        with subtests.test(name, extra=extra, other=other, mode=mode):
            text = text.replace("A", '"one"' if other else "1")
            scorer = passrate_scorer(PassrateSettings(mode=mode))  # type: ignore[arg-type]  # one of the two
            record = Record(id=name, schema=json.dumps(schema))
            verdict = scorer(record)(Response(record=name, text=text))
            expected = (strict if mode == "strict" else lenient) if extra else ""
            if other:
                expected = "schema_violation"
            assert verdict.failure_class == expected, verdict
            assert verdict.passed is (not expected)


def test_a_violation_says_whether_there_are_members_too_many_besides() -> None:
    """The flag tells a model that invents members from one that only errs."""
    scorer = passrate_scorer(PassrateSettings())
    record = Record(id="x", schema=json.dumps(_CLOSED))
    both = scorer(record)(Response(record="x", text='{"a": "1", "b": 2}'))
    one = scorer(record)(Response(record="x", text='{"a": "1"}'))
    assert (both.details["also_extra_fields"], one.details["also_extra_fields"]) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    table(__file__, "between"),
)
def test_cases_between_a_violation_and_an_invention(
    schema: UntypedJson, text: str, expected: str
) -> None:
    """What the document leaves open has one reading each."""
    record = Record(id="x", schema=json.dumps(schema), dialect="draft-07")
    scorer = passrate_scorer(PassrateSettings())
    assert scorer(record)(Response(record="x", text=text)).failure_class == (expected)
