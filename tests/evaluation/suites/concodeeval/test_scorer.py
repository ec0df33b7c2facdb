"""Task 1: every answer has one class, and the figures that the paper reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import FREE, Record, Response, Verdict
from evaluation.suites.concodeeval.prompts import shots
from evaluation.suites.concodeeval.scorer import ConcodeScorer, Places
from evaluation.suites.concodeeval.settings import (
    MAX_DEPTH,
    ConcodeSettings,
    Output,
    RecordFields,
    SuiteReading,
    TaskName,
    TextLength,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json

_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "size": {"type": "number", "maximum": 9},
        "day": {"type": "string", "format": "date"},
    },
    "additionalProperties": False,
}


def _record(schema: Json = _SCHEMA, output: Output = Output.JSON) -> Record:
    text = json.dumps(schema)
    fields = RecordFields(
        task=TaskName.GENERATION,
        representation="json",
        output=output,
        family="mine",
        schema_id="m1",
        schema=text,
        length=TextLength.of(text),
    )
    return fields.record("m1", "2020-12")


def _verdict(
    text: str | None,
    settings: ConcodeSettings | None = None,
    record: Record | None = None,
    *,
    condition: str = FREE,
    error: str = "",
) -> Verdict:
    scorer = ConcodeScorer(settings or ConcodeSettings())
    response = Response(record="mine/m1", text=text, condition=condition, error=error)
    return scorer(record or _record())(response)


def test_a_value_that_satisfies_the_schema_passes() -> None:
    """Formats are off in the headline; the second figure has them on."""
    verdict = _verdict('```\n{"size": 3, "day": "soon"}\n```')
    assert verdict.passed
    assert verdict.scores == {
        "gen_acc": 1.0,
        "with_formats": 0.0,
        "rtv": 0.0,
        "invalid": 0.0,
        "incomplete": 0.0,
    }
    strict = ConcodeSettings(formats=True)
    refused = _verdict('```\n{"size": 3, "day": "soon"}\n```', strict)
    assert refused.failure_class == "violation"
    assert refused.details["keywords"] == {"format": 1}


def test_a_wrong_root_is_a_failure_of_its_own() -> None:
    """It counts as RTV, and its errors count like others."""
    verdict = _verdict("```\n[1]\n```")
    assert verdict.failure_class == "wrong_root"
    assert verdict.scores["rtv"] == 1.0
    assert verdict.details["keywords"] == {"type": 1}


def test_every_violated_keyword_is_counted_where_it_stands() -> None:
    """Keywords as jsonschema-rs reports them, and the part that they stand in."""
    verdict = _verdict('```\n{"size": 12, "day": 1, "other": 1}\n```')
    assert verdict.failure_class == "violation"
    assert verdict.details["keywords"] == {
        "maximum": 1,
        "type": 1,
        "additionalProperties": 1,
    }
    assert verdict.details["locality"] == [0, 1, 2]
    assert any(reason.startswith("maximum at /size: ") for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        (None, "no_answer", "incomplete"),
        ("  ", "no_answer", "incomplete"),
        ('{"size": 3}', "no_fence", "incomplete"),
        ("```\n{size: 3}\n```", "syntax", "invalid"),
        ("```\n[NaN]\n```", "not_json", "invalid"),
    ],
)
def test_an_answer_without_a_value_is_invalid_or_incomplete(
    text: str | None, kind: str, part: str
) -> None:
    """IS has two parts, and neither is a wrong root."""
    verdict = _verdict(text)
    assert verdict.failure_class == kind
    scores = {name for name, score in verdict.scores.items() if score}
    assert scores == {part}


@pytest.mark.parametrize("output", list(Output))
@pytest.mark.parametrize(
    ("levels", "kind"), [(MAX_DEPTH, "wrong_root"), (MAX_DEPTH + 1, "too_deep")]
)
def test_the_deepest_text_that_is_read_is_judged(
    output: Output, levels: int, kind: str
) -> None:
    """All three formats end at one depth, which the validator still follows."""
    pair = ("<item>", "</item>") if output is Output.XML else ("[", "]")
    record = _record({"type": "number"}, output)
    text = "```\n" + pair[0] * levels + pair[1] * levels + "\n```"
    assert _verdict(text, record=record).failure_class == kind


def test_under_an_engine_the_text_is_the_sample() -> None:
    """A grammar leaves no room for a fence."""
    verdict = _verdict('{"size": 3}', condition="llguidance")
    assert verdict.passed
    assert _verdict('{"size": 12}', condition="llguidance").failure_class == "violation"


def test_an_error_is_no_answer_and_a_bad_schema_is_not_counted() -> None:
    """What the model did not do is told from what it did."""
    assert _verdict(None, error="HTTP 500").failure_class == "api_error"
    broken = _verdict("```\n1\n```", record=_record({"type": "unicorn"}))
    assert broken.failure_class == "schema_error"
    assert not broken.counted


def test_null_is_no_wrong_root_in_the_papers_reading() -> None:
    """Its scripts map no type to null; ours does."""
    assert _verdict("```\nnull\n```").scores["rtv"] == 1.0
    paper = ConcodeSettings(reading=SuiteReading.PAPER)
    assert _verdict("```\nnull\n```", paper).scores["rtv"] == 0.0


def test_only_json_can_be_constrained() -> None:
    """A record of YAML or XML has no schema that an engine could hold it to."""
    assert _record().schema is not None
    assert _record(output=Output.XML).schema is None
    verdict = _verdict(
        "```\n<x><size>3</size></x>\n```", record=_record(output=Output.XML)
    )
    assert verdict.passed


def test_places_are_cut_in_thirds_or_as_the_scripts_do() -> None:
    """The list of keys in order: type, properties, a, maximum, b, minimum."""
    schema: Json = {
        "type": "object",
        "properties": {"a": {"maximum": 1}, "b": {"minimum": 2}},
    }
    thirds = Places.of(schema, "thirds")
    assert thirds.counts([("type",)]) == [1, 0, 0]
    assert thirds.counts([("properties", "a")]) == [0, 1, 0]
    assert thirds.counts([("properties", "b", "minimum")]) == [0, 0, 1]
    assert thirds.constraints == (1, 1, 1)
    fifths = Places.of(schema, "20/60/20")
    assert fifths.counts([("properties",), ("properties", "b")]) == [1, 1, 0]
    assert fifths.counts([("nowhere",)]) == [0, 0, 0]


@pytest.mark.parametrize("reading", list(SuiteReading))
def test_every_shot_satisfies_its_schema(reading: SuiteReading) -> None:
    """Unlike some of the published ones; they are validated whenever they are used."""
    assert len(shots(reading)) == 3
