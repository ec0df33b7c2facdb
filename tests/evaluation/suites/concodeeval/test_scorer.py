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


def _verdict(
    text: str | None,
    record: Record | None = None,
    settings: ConcodeSettings | None = None,
    **answer: str,
) -> Verdict:
    scorer = concode_scorer(settings or ConcodeSettings())
    response = Response(record="mine/m1", text=text, **answer)  # type: ignore[arg-type]  # texts
    return scorer(record or _record())(response)


def _read(text: str, output: Output, schema: Json, reading: Reading) -> Any:  # noqa: ANN401 (any JSON)
    """Return the value of a text, or the class of one without."""
    try:
        return read_output(text, output, schema, reading)
    except UnreadError as error:
        return error.args[0]


@pytest.mark.parametrize(
    ("text", "kind", "scores"),
    [
        ('```\n{"size": 3, "day": "soon"}\n```', "", {"gen_acc"}),
        ('```\n{"day": "2026-01-01"}\n```', "", {"gen_acc", "with_formats"}),
        ("```\n[1]\n```", "wrong_root", {"rtv"}),
        ("```\nnull\n```", "wrong_root", {"rtv"}),
        (None, "no_answer", {"incomplete"}),
        ("  ", "no_answer", {"incomplete"}),
        ("<think>so", "no_answer", {"incomplete"}),
        ('{"size": 3}', "no_fence", {"incomplete"}),
        ("```\n{size: 3}\n```", "syntax", {"invalid"}),
        ("```\n[NaN]\n```", "not_json", {"invalid"}),
        # Its length is looked at first.
        (f"```\n{'1' * 10_000_000}\n```", "too_large", {"invalid"}),
    ],
)
def test_an_answer_has_one_class_and_its_scores(
    text: str | None, kind: str, scores: set[str]
) -> None:
    """Formats are off in the headline; the second figure has them on.

    IS has two parts, and neither is a wrong root.
    """
    verdict = _verdict(text)
    assert (verdict.failure_class, verdict.passed) == (kind, not kind)
    assert {name for name, score in verdict.scores.items() if score} == scores
    assert len(verdict.scores) == 5


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


def test_under_an_engine_the_text_is_the_sample() -> None:
    """A grammar leaves no room for a fence; it can hold JSON alone."""
    assert _verdict('{"size": 3}', condition="llguidance").passed
    verdict = _verdict('{"size": 12}', condition="llguidance")
    assert verdict.failure_class == "violation"
    xml = _record(output="xml")
    assert (_record().schema is None, xml.schema) == (False, None)
    assert _verdict("```\n<x><size>3</size></x>\n```", xml).passed


def test_an_error_is_no_answer_and_a_bad_schema_is_not_counted() -> None:
    """What the model did not do is told from what it did."""
    assert _verdict(None, error="HTTP 500").failure_class == "api_error"
    broken = _verdict("```\n1\n```", _record({"type": "unicorn"}))
    assert (broken.failure_class, broken.counted) == ("schema_error", False)


def test_the_papers_reading_of_null_and_of_repeated_members() -> None:
    """Its scripts map no type to null, and the last of two equal names counts."""
    paper = ConcodeSettings(reading="paper")
    assert _verdict("```\nnull\n```", settings=paper).scores["rtv"] == 0.0
    assert _read('{"a": 1, "a": 2}', "json", {}, "paper") == {"a": 2}


def test_places_are_cut_in_thirds_or_as_the_scripts_do() -> None:
    """The list of keys in order: type, properties, a, maximum, b, minimum."""
    schema: Json = {
        "type": "object",
        "properties": {"a": {"maximum": 1}, "b": {"minimum": 2}},
    }
    compiled = CompiledSchema.from_json(schema, "2020-12")
    thirds = {
        ("type",): [1, 0, 0],
        ("properties", "a"): [0, 1, 0],
        ("properties", "b", "minimum"): [0, 0, 1],
    }
    for path, counts in thirds.items():
        assert locality(compiled, [path], "recommended") == counts
    paths = [("properties",), ("properties", "b"), ("nowhere",)]
    assert locality(compiled, paths, "paper") == [1, 1, 0]


@pytest.mark.parametrize(("reading", "draft"), [("recommended", 2020), ("paper", 7)])
def test_every_shot_satisfies_its_schema(reading: Reading, draft: int) -> None:
    """Unlike some of the published ones."""
    validator: Any = {
        7: jsonschema.Draft7Validator,
        2020: jsonschema.Draft202012Validator,
    }[draft]
    assert len(shots(reading)) == 3
    for schema, sample in shots(reading):
        checker = validator.FORMAT_CHECKER
        validator(json.loads(schema), format_checker=checker).validate(
            json.loads(sample)
        )


def test_a_text_without_a_value_has_its_class(subtests: pytest.Subtests) -> None:
    """No tag, alias, entity, depth or repeated name is followed in any format."""
    for output, part, times, why in table(__file__, "unread"):
        with subtests.test(ascii(part), output=output):
            assert _read(part * times, output, {}, "recommended") == why


def test_yaml_is_read_as_1_2_or_as_pyyaml_does() -> None:
    """`no`, times and dates are texts in the core schema, and something else in 1.1."""
    text = "a: no\nb: 12:30:45\nc: 2024-01-01\nd: 1e3\ne: 0o7\nf:\n1: yes"
    core = '{"a": "no", "b": "12:30:45", "d": 1000.0, "e": 7, "1": "yes"}'
    pyyaml = '{"a": false, "b": 45045, "d": "1e3", "e": "0o7", "1": true}'
    both = {"c": "2024-01-01", "f": None}
    assert _read(text, "yaml", {}, "recommended") == both | json.loads(core)
    assert _read(text, "yaml", {}, "paper") == both | json.loads(pyyaml)


@pytest.mark.parametrize(("text", "continues", "expected"), table(__file__, "fences"))
def test_the_first_closed_fence_holds_the_answer(
    text: str,
    continues: bool,  # noqa: FBT001 (a parameter of the test)
    expected: str,
) -> None:
    """Unclosed and nested fences have their classes; an open one is gone on from."""
    form: Any = "base" if continues else "chat"
    settings = ConcodeSettings(form=form, reading="paper")
    try:
        found = fenced_answer(text, "json", settings)
    except UnreadError as error:
        found = error.args[0]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    table(__file__, "untyped"),
)
def test_a_value_without_types_is_read_by_its_schema(
    text: str, schema: Json, value: Json
) -> None:
    """Types in the text come first; a text that is no such value stays a text."""
    assert _read(text, "xml", schema, "recommended") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<all type='float'>3.5</all>", {"all": {"@type": "float", "#text": "3.5"}}),
        ("<a><b>1</b><b>2</b><c/></a>", {"a": {"b": ["1", "2"], "c": None}}),
        ("<a>  text  </a>", {"a": "text"}),
        ("<a/>", {"a": None}),
    ],
)
def test_the_papers_reading_is_that_of_xmltodict(text: str, value: Json) -> None:
    """The root is always an object with one member, and every scalar a text."""
    assert _read(text, "xml", {"type": "number"}, "paper") == value


def test_a_reply_is_one_word_or_none(subtests: pytest.Subtests) -> None:
    """What holds both as equals is neither; in the paper's reading it begins a fence.

    After an open fence the text up to the next one counts: behind it is the next
    question that the model asks itself.
    """
    record = _record(task="validation", sample="1", label="yes")
    for part, times, reading, form, reply in table(__file__, "replies"):
        with subtests.test(part, reading=reading, form=form):
            settings = ConcodeSettings(reading=reading, form=form)
            verdict = _verdict(part * times, record, settings)
            assert verdict.details["reply"] == reply
            assert verdict.passed is (reply == "yes")
            assert verdict.counted is (reply in ("yes", "no") or reading != "paper")
