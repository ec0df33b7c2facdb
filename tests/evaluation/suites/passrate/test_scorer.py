"""One answer, one class: what models write, and what nobody expects of them."""

from __future__ import annotations

import json

import pytest

from evaluation.core.records import Record, Response
from evaluation.suites.passrate.scorer import PassrateScorer
from evaluation.suites.passrate.settings import Mode, PassrateSettings, as_published

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
    scorer = PassrateScorer(settings or PassrateSettings())
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
        ("`" * 100_000, "syntax_error"),
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


def test_members_that_stand_twice_are_told() -> None:
    """The last one counts, as parsers do, and the verdict names them."""
    scorer = PassrateScorer(PassrateSettings())
    text = '{"shape": "a", "shape": "b", "width": 1}'
    verdict = scorer(_RECORD)(Response(record="a", text=text))
    assert verdict.passed
    assert verdict.details["duplicate_members"] == ["shape"]


def test_precedence() -> None:
    """An error comes before everything, then a refusal, then the budget."""
    assert _class(_GOOD, error="HTTP 500") == "api_error"
    assert _class(_GOOD[:-1], finish="content_filter") == "refusal"
    assert _class(_GOOD[:-1], finish="length") == "truncated"
    assert _class("", finish="length") == "truncated"
    # What is whole and valid is no worse for a budget that ended it.
    assert _class(_GOOD, finish="length") == ""


@pytest.mark.parametrize(
    "schema", [None, "{", "7", '{"type": "nothing"}', '{"$ref": "#/x"}']
)
def test_a_schema_that_cannot_be_used_counts_nowhere(schema: str | None) -> None:
    """It is a class of its own, outside of every rate."""
    scorer = PassrateScorer(PassrateSettings())
    judge = scorer(Record(id="a", schema=schema))
    verdict = judge(Response(record="a", text="{}"))
    assert (verdict.failure_class, verdict.counted) == ("schema_error", False)


def test_both_modes_and_both_cleanings() -> None:
    """Strict forbids what the schema leaves open; the published cleaning damages."""
    extra = '{"shape": "round", "width": 1, "color": "blue"}'
    assert _class(extra, PassrateSettings(mode=Mode.SCHEMA)) == ""
    ticks = '```json\n{"shape": "a ``` b", "width": 1}\n```'
    assert _class(ticks) == ""
    published = PassrateScorer(as_published(PassrateSettings()))
    other = Record(id="a", schema='{"const": {"shape": "a ``` b", "width": 1}}')
    assert not published(other)(Response(record="a", text=ticks)).passed


def test_formats_are_asserted_only_where_that_is_set() -> None:
    """The published harness asserted none."""
    record = Record(id="a", schema='{"format": "date"}')
    response = Response(record="a", text='"tomorrow"')
    assert PassrateScorer(PassrateSettings())(record)(response).passed
    strict = PassrateScorer(PassrateSettings(formats=True))
    assert strict(record)(response).failure_class == "schema_violation"
