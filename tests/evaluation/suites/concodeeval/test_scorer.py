"""Both tasks: every answer is read or refused, and has one class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.concodeeval.prompts import shots
from evaluation.suites.concodeeval.scorer import (
    concode_scorer,
    fenced_answer,
    locality,
    read_output,
)
from evaluation.suites.concodeeval.suite import (
    MAX_DEPTH,
    OUTPUTS,
    ConcodeSettings,
    Output,
    Reading,
    RecordFields,
    UnreadError,
)
from tests.tables import table

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


def _record(schema: Json = _SCHEMA, output: Output = "json", **task: str) -> Record:
    text = json.dumps(schema)
    values = {
        "task": "generation",
        "representation": "json",
        "output": output,
        "family": "mine",
        "schema_id": "m1",
        "schema": text,
        "length": len(text.split()),
    }
    return RecordFields(**{**values, **task}).record("m1", "2020-12")  # type: ignore[arg-type]  # of its fields


_PAPER = ConcodeSettings(reading="paper")
#: Readings and forms by their names in tables.
_SETTINGS = {
    "chat": ConcodeSettings(),
    "base": ConcodeSettings(form="base"),
    "paper": _PAPER,
    "paper-base": ConcodeSettings(reading="paper", form="base"),
}


def _verdict(
    text: str | None,
    record: Record | None = None,
    settings: ConcodeSettings = ConcodeSettings(),  # noqa: B008 (frozen)
    **answer: str,
) -> Verdict:
    scorer = concode_scorer(settings)
    response = Response(record="mine/m1", text=text, **answer)  # type: ignore[arg-type]  # texts
    return scorer(record or _record())(response)


def _read(text: str, output: Output, schema: Json, reading: Reading) -> Any:  # noqa: ANN401 (any JSON)
    """Return the value of a text, or the class of one without."""
    try:
        return read_output(text, output, schema, reading)
    except UnreadError as error:
        return error.args[0]


@pytest.mark.parametrize(
    ("text", "kind", "scores", "given"),
    [
        ('```\n{"size": 3, "day": "soon"}\n```', "", {"gen_acc"}, {}),
        ('```\n{"day": "2026-01-01"}\n```', "", {"gen_acc", "with_formats"}, {}),
        ("```\n[1]\n```", "wrong_root", {"rtv"}, {}),
        ("```\nnull\n```", "wrong_root", {"rtv"}, {}),
        # The published scripts map no type to null.
        ("```\nnull\n```", "violation", set(), {"settings": _PAPER}),
        (None, "no_answer", {"incomplete"}, {}),
        ("  ", "no_answer", {"incomplete"}, {}),
        ("<think>so", "no_answer", {"incomplete"}, {}),
        ('{"size": 3}', "no_fence", {"incomplete"}, {}),
        ("```\n{size: 3}\n```", "syntax", {"invalid"}, {}),
        ("```\n[NaN]\n```", "not_json", {"invalid"}, {}),
        # Its length is looked at first.
        (f"```\n{'1' * 10_000_000}\n```", "too_large", {"invalid"}, {}),
        # A grammar leaves no room for a fence; it can hold JSON alone.
        ('{"size": 12}', "violation", set(), {"condition": "llguidance"}),
        (
            "```\n<x><size>3</size></x>\n```",
            "",
            {"gen_acc", "with_formats"},
            {"record": _record(output="xml"), "condition": "llguidance"},
        ),
        # What the model did not do is told from what it did.
        (None, "api_error", set(), {"error": "HTTP 500"}),
        ("```\n1\n```", "schema_error", set(), {"record": _record({"type": "?"})}),
    ],
)
def test_an_answer_has_one_class_and_its_scores(
    text: str | None, kind: str, scores: set[str], given: dict[str, Any]
) -> None:
    """Formats are off in the headline; the second figure has them on.

    IS has two parts, and neither is a wrong root.
    """
    verdict = _verdict(text, **given)
    assert (verdict.failure_class, verdict.passed) == (kind, not kind)
    assert {name for name, score in verdict.scores.items() if score} == scores
    assert len(verdict.scores) == (0 if kind.endswith("_error") else 5)
    assert verdict.counted is (kind != "schema_error")
    assert (_record().schema is None, _record(output="xml").schema) == (False, None)


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
    assert _verdict("```\n[1]\n```").details["keywords"] == {"type": 1}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("levels", "kind"), [(MAX_DEPTH, "wrong_root"), (MAX_DEPTH + 1, "too_deep")]
)
def test_the_deepest_text_that_is_read_is_judged(
    output: Output, levels: int, kind: str
) -> None:
    """All three formats end at one depth, which the validator still follows."""
    pair = ("<item>", "</item>") if output == "xml" else ("[", "]")
    record = _record({"type": "number"}, output)
    text = "```\n" + pair[0] * levels + pair[1] * levels + "\n```"
    assert _verdict(text, record).failure_class == kind


def test_places_are_cut_in_thirds_or_as_the_scripts_do() -> None:
    """Of nine keys in their order three are in each third; scripts cut at 1.8."""
    members: Json = {"a": {"maximum": 1}, "b": {"minimum": 2}, "c": {"not": True}}
    schema: Json = {"type": "object", "properties": members, "required": []}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    own = [("properties", name) for name in "abc"]
    paths = [("type",), ("properties",), *own, (*own[2], "not"), ("required",)]
    assert locality(compiled, paths, "recommended") == [3, 1, 3]
    assert locality(compiled, [*paths, ("nowhere",)], "paper") == [2, 4, 1]


@pytest.mark.parametrize(
    ("reading", "validator"),
    [
        ("recommended", jsonschema.Draft202012Validator),
        ("paper", jsonschema.Draft7Validator),
    ],
)
def test_every_shot_satisfies_its_schema(reading: Reading, validator: Any) -> None:  # noqa: ANN401 (a class)
    """Unlike some of the published ones."""
    found = shots(ConcodeSettings(reading=reading))
    assert len(found) == 3
    for schema, sample in found:
        formats = validator.FORMAT_CHECKER
        checked = validator(json.loads(schema), format_checker=formats)
        assert checked.is_valid(json.loads(sample))


def test_a_text_without_a_value_has_its_class(subtests: pytest.Subtests) -> None:
    """No tag, alias, entity, depth or repeated name is followed in any format."""
    for output, part, times, why in table(__file__, "unread"):
        with subtests.test(ascii(part), output=output):
            assert _read(part * times, output, {}, "recommended") == why


@pytest.mark.parametrize(
    ("output", "reading", "text", "schema", "value"), table(__file__, "values")
)
def test_a_text_has_its_value(
    output: Output, reading: Reading, text: str, schema: Json, value: Json
) -> None:
    """In XML types come first, then the schema; what is no such value stays a text.

    In the paper's reading the root of XML is an object with one member, and every
    scalar a text; YAML is that of PyYAML; the last of two equal names counts.
    """
    assert _read(text, output, schema, reading) == value


@pytest.mark.parametrize(
    ("text", "output", "settings", "expected"), table(__file__, "fences")
)
def test_a_closed_fence_holds_the_answer(
    text: str, output: Output, settings: str, expected: str
) -> None:
    """The last of the format, or the first; an open one is gone on from."""
    try:
        found = fenced_answer(text, output, _SETTINGS[settings])
    except UnreadError as error:
        found = error.args[0]
    assert found == expected


def test_a_reply_is_one_word_or_none(subtests: pytest.Subtests) -> None:
    """What holds both as equals is neither; in the paper's reading it begins a fence.

    After an open fence the text up to the next one counts: behind it is the next
    question that the model asks itself.
    """
    record = _record(task="validation", sample="1", label="yes")
    for part, times, name, reply in table(__file__, "replies"):
        with subtests.test(part, settings=name):
            verdict = _verdict(part * times, record, _SETTINGS[name])
            assert verdict.details["reply"] == reply
            assert verdict.passed is (reply == "yes")
            is_counted = reply in ("yes", "no") or not name.startswith("paper")
            assert verdict.counted is is_counted
