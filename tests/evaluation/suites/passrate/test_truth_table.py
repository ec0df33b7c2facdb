"""The truth table: how a schema is open or closed, and what an answer has too much.

Every way in which a schema declares members, with and without one that it does not
declare, with and without another fault: under both modes each has one class.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Record, Response
from evaluation.suites.passrate.scorer import PassrateScorer
from evaluation.suites.passrate.settings import Mode, PassrateSettings

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_A = {"a": {"type": "integer"}}
_OBJECT = {"type": "object", "properties": _A}
_CLOSED = {**_OBJECT, "additionalProperties": False}
_HALLUCINATION = "hallucination"

#: Name, schema, answer with `EXTRA` where the undeclared member goes, and the class
#: of an answer with it: strict, schema.
ROWS: list[tuple[str, UntypedJson, str, str, str]] = [
    ("closed", _CLOSED, '{"a": A EXTRA}', _HALLUCINATION, _HALLUCINATION),
    ("open, implicit", _OBJECT, '{"a": A EXTRA}', _HALLUCINATION, ""),
    (
        "open, explicit",
        {**_OBJECT, "additionalProperties": True},
        '{"a": A EXTRA}',
        "",
        "",
    ),
    (
        "open since 2019",
        {**_OBJECT, "unevaluatedProperties": True},
        '{"a": A EXTRA}',
        "",
        "",
    ),
    (
        "map",
        {"type": "object", "additionalProperties": {"type": "integer"}},
        '{"a": A EXTRA}',
        "",
        "",
    ),
    (
        "patternProperties",
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
        '{"a": A EXTRA}',
        _HALLUCINATION,
        "",
    ),
    (
        "nested",
        {"type": "object", "properties": {"n": _OBJECT}},
        '{"n": {"a": A EXTRA}}',
        _HALLUCINATION,
        "",
    ),
    (
        "in array items",
        {"type": "array", "items": _OBJECT},
        '[{"a": A EXTRA}]',
        _HALLUCINATION,
        "",
    ),
    (
        "in a tuple",
        {"type": "array", "prefixItems": [True, _OBJECT]},
        '[0, {"a": A EXTRA}]',
        _HALLUCINATION,
        "",
    ),
    (
        "via $ref",
        {"$ref": "#/$defs/o", "$defs": {"o": _OBJECT}},
        '{"a": A EXTRA}',
        _HALLUCINATION,
        "",
    ),
    (
        "via $ref, closed",
        {"$ref": "#/$defs/o", "$defs": {"o": _CLOSED}},
        '{"a": A EXTRA}',
        _HALLUCINATION,
        _HALLUCINATION,
    ),
    (
        "via allOf",
        {"allOf": [_OBJECT, {"properties": {"b": True}}]},
        '{"a": A, "b": 1 EXTRA}',
        _HALLUCINATION,
        "",
    ),
    (
        "via anyOf",
        {"anyOf": [_OBJECT, {"type": "string"}]},
        '{"a": A EXTRA}',
        _HALLUCINATION,
        "",
    ),
    (
        "via anyOf, closed",
        {"anyOf": [_CLOSED, {"type": "string"}]},
        '{"a": A EXTRA}',
        _HALLUCINATION,
        _HALLUCINATION,
    ),
    (
        "via then",
        {
            "if": {"properties": {"a": {"type": "integer"}}},
            "then": {"properties": {"t": True}},
            "else": False,
        },
        '{"a": A, "t": 1 EXTRA}',
        _HALLUCINATION,
        "",
    ),
    (
        "via dependentSchemas",
        {**_OBJECT, "dependentSchemas": {"a": {"properties": {"d": True}}}},
        '{"a": A, "d": 1 EXTRA}',
        _HALLUCINATION,
        "",
    ),
    ("free-form", {"type": "object", "minProperties": 1}, '{"x": 1 EXTRA}', "", ""),
]


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("other", [False, True], ids=["", "other error"])
@pytest.mark.parametrize("extra", [False, True], ids=["", "extra"])
@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_truth_table(
    row: tuple[str, UntypedJson, str, str, str], *, extra: bool, other: bool, mode: Mode
) -> None:
    """Only members too many: a hallucination or none; anything else: a violation."""
    name, schema, answer, strict, lenient = row
    text = answer.replace(" EXTRA", ', "extra": 7' if extra else "")
    if other and "A" not in text:
        pytest.skip("nothing in it can be wrong")
    text = text.replace("A", '"one"' if other else "1")
    scorer = PassrateScorer(PassrateSettings(mode=mode))
    record = Record(id=name, schema=json.dumps(schema))
    verdict = scorer(record)(Response(record=name, text=text))
    expected = (strict if mode is Mode.STRICT else lenient) if extra else ""
    if other:
        expected = "schema_violation"
    assert verdict.failure_class == expected, verdict
    assert verdict.passed is (not expected)


def test_a_violation_says_whether_there_are_members_too_many_besides() -> None:
    """The flag tells a model that invents members from one that only errs."""
    scorer = PassrateScorer(PassrateSettings())
    record = Record(id="x", schema=json.dumps(_CLOSED))
    both = scorer(record)(Response(record="x", text='{"a": "1", "b": 2}'))
    one = scorer(record)(Response(record="x", text='{"a": "1"}'))
    assert (both.details["also_extra_fields"], one.details["also_extra_fields"]) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        # A name that is refused and declared is wrong, not invented.
        ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', "hallucination"),
        (
            {"propertyNames": {"maxLength": 1}, "properties": {"ab": True}},
            '{"ab": 1}',
            "schema_violation",
        ),
        ({"properties": {"a": False}}, '{"a": 1}', "schema_violation"),
        # Draft-07: `prefixItems` is no keyword, and what stands beside a $ref is not
        # there.
        (
            {"prefixItems": [{"properties": {"b": {}}}], "items": _OBJECT},
            '[{"a": 1}]',
            "",
        ),
        (
            {
                "$ref": "#/definitions/o",
                "properties": {"b": {}},
                "definitions": {"o": _OBJECT},
            },
            '{"b": 1}',
            "hallucination",
        ),
    ],
)
def test_cases_between_a_violation_and_an_invention(
    schema: UntypedJson, text: str, expected: str
) -> None:
    """What the document leaves open has one reading each."""
    record = Record(id="x", schema=json.dumps(schema), dialect="draft-07")
    scorer = PassrateScorer(PassrateSettings())
    assert scorer(record)(Response(record="x", text=text)).failure_class == (expected)
