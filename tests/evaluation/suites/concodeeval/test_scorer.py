"""Both tasks: every answer is read or refused, and has one class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from evaluation.answers.extraction import MissingAnswer, triage
from evaluation.core.records import Record, Response, Verdict
from evaluation.suites.concodeeval.prompts import shots
from evaluation.suites.concodeeval.scorer import (
    FREE_RULES,
    concode_scorer,
    fenced_answer,
    first_fence,
    locality,
    read_json,
    read_yaml_text,
    reply_of,
)
from evaluation.suites.concodeeval.suite import (
    MAX_DEPTH,
    OUTPUTS,
    ConcodeSettings,
    NotRead,
    Output,
    Reading,
    RecordFields,
)
from evaluation.suites.concodeeval.xml_answer import read_xml
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


def _record(schema: Json = _SCHEMA, output: Output = "json") -> Record:
    text = json.dumps(schema)
    fields = RecordFields(
        task="generation",
        representation="json",
        output=output,
        family="mine",
        schema_id="m1",
        schema=text,
        length=len(text.split()),
    )
    return fields.record("m1", "2020-12")


def _verdict(
    text: str | None,
    record: Record | None = None,
    reading: Reading = "recommended",
    **answer: str,
) -> Verdict:
    scorer = concode_scorer(ConcodeSettings(reading=reading))
    response = Response(record="mine/m1", text=text, **answer)  # type: ignore[arg-type]  # texts
    return scorer(record or _record())(response)


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
    assert _verdict("```\nnull\n```", reading="paper").scores["rtv"] == 0.0
    assert read_json('{"a": 1, "a": 2}', "paper") == {"a": 2}


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


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("```json\n{}\n``` and ```[]```", "{}"),
        ("```[1]```", "[1]"),
        ("```.json\n{}\n```", "{}"),
        ("{}", None),
        ("```json\n{}", None),
    ],
)
def test_the_scripts_take_what_is_between_two_marks(
    text: str, taken: str | None
) -> None:
    """But for a first line with the name of a language."""
    assert first_fence(text) == taken


@pytest.mark.parametrize("reading", ["recommended", "paper"])
def test_every_shot_satisfies_its_schema(reading: Reading) -> None:
    """Unlike some of the published ones; they are validated whenever they are used."""
    assert len(shots(reading)) == 3


def _why(found: Json | NotRead) -> str | None:
    return found.why if isinstance(found, NotRead) else None


def test_a_text_without_a_value_has_its_class(subtests: pytest.Subtests) -> None:
    """No tag, alias, entity, depth or repeated name is followed in any format."""
    read = {
        "json": read_json,
        "yaml": read_yaml_text,
        "xml": lambda text: read_xml(text, {}, "recommended"),
    }
    for output, part, times, why in table(__file__, "unread"):
        with subtests.test(ascii(part), output=output):
            assert _why(read[output](part * times)) == why


def test_yaml_is_read_as_1_2_or_as_pyyaml_does() -> None:
    """`no`, times and dates are texts in the core schema, and something else in 1.1."""
    text = "a: no\nb: 12:30:45\nc: 2024-01-01\nd: 1e3\ne: 0o7\nf:\n1: yes"
    core: Json = {
        "a": "no",
        "b": "12:30:45",
        "c": "2024-01-01",
        "d": 1000.0,
        "e": 7,
        "f": None,
        "1": "yes",
    }
    pyyaml: Json = {
        "a": False,
        "b": 45045,
        "c": "2024-01-01",
        "d": "1e3",
        "e": "0o7",
        "f": None,
        "1": True,
    }
    assert read_yaml_text(text) == core
    assert read_yaml_text(text, "paper") == pyyaml


def _answer(text: str) -> str | MissingAnswer:
    return triage(Response(record="a", text=text), FREE_RULES)


@pytest.mark.parametrize(("text", "continues", "expected"), table(__file__, "fences"))
def test_the_first_closed_fence_holds_the_answer(
    text: str,
    continues: bool,  # noqa: FBT001 (a parameter of the test)
    expected: str,
) -> None:
    """Unclosed and nested fences have their classes; an open one is gone on from."""
    answer = _answer(text)
    assert isinstance(answer, str)
    found = fenced_answer(answer, continues=continues)
    assert (found.why if isinstance(found, NotRead) else found) == expected


_OBJECT: Json = {
    "type": "object",
    "properties": {
        "count": {"type": "number"},
        "on": {"type": "boolean"},
        "gone": {"type": "null"},
        "name": {"type": "string"},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    },
}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    table(__file__, "untyped"),
)
def test_a_value_without_types_is_read_by_its_schema(
    text: str, schema: Json, value: Json
) -> None:
    """Types in the text come first; a text that is no such value stays a text."""
    assert read_xml(text, schema, "recommended") == value


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
    assert read_xml(text, {"type": "number"}, "paper") == value


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("<all type='str' escaped='true'>\\ud800</all>", {}),
        ("<all><key name='\\ud800' escaped='true'>1</key></all>", {}),
    ],
)
def test_half_of_a_surrogate_pair_is_no_text(text: str, schema: Json) -> None:
    """As in an answer in JSON; no validator could take it."""
    assert isinstance(read_xml(text, schema, "recommended"), NotRead)


def test_an_integer_may_have_any_number_of_digits() -> None:
    """As in an answer in JSON."""
    text = f"<all type='int'>{'1' * 400}</all>"
    assert read_xml(text, {}, "recommended") == int("1" * 400)


def test_an_answer_says_one_word_or_none(subtests: pytest.Subtests) -> None:
    """What says both as equals says neither."""
    for part, times, said in table(__file__, "replies"):
        with subtests.test(part):
            assert reply_of(_answer(part * times), continues=False) == said


def test_after_an_open_fence_the_text_up_to_the_next_one_counts() -> None:
    """What comes behind it is the next question that the model asks itself."""
    text = "no\n```\n\nQuestion: is this so?\nAnswer: yes"
    assert reply_of(text, continues=True) == "no"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\nyesterday\n```", "yes"),
        ("```\nNo way\n```", "no"),
        ("yes", "unclear"),
        ("```\nthe answer is yes\n```", "unclear"),
    ],
)
def test_the_papers_reading_looks_at_the_beginning_of_the_first_fence(
    text: str, said: str
) -> None:
    """Whatever else stands there."""
    assert reply_of(text, continues=False, reading="paper") == said
