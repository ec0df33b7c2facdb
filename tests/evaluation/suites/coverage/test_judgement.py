"""Every text is in exactly one class, and the class is right."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.answers.extraction import is_trivial
from evaluation.core.records import Record, Response
from evaluation.generation.text_generation import Generation
from evaluation.runner.request import choose_suite
from evaluation.runner.scoring import score_all
from evaluation.suites.coverage.scorer import (
    TextClass,
    TextVerdict,
    accepts_as_published,
    accepts_by_listing_10,
    classify,
    judge,
)
from evaluation.suites.coverage.suite import CoverageSettings
from evaluation.suites.coverage.texts import name_class, read_judgement
from tests.evaluation.suites.known.coverage import known_answers
from tests.tables import table

_OLD = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {
            "depth": {"type": "integer", "maximum": 9, "exclusiveMaximum": True},
            "when": {"type": "string", "format": "date-time"},
        },
        "required": ["depth"],
    }
)


def test_a_text_is_judged_under_its_own_dialect_and_as_the_paper_did() -> None:
    """A draft-04 schema is no 2020-12 schema: the paper counted every text as wrong."""
    judgement = judge('{"depth": 8}', _OLD, "draft-04")
    assert judgement.own is TextVerdict.VALID
    assert judgement.paper is TextVerdict.INVALID


def test_the_violated_keyword_is_named() -> None:
    """What is JSON and refused says by which keyword; formats are asserted."""
    at_limit = judge('{"depth": 9}', _OLD, "draft-04")
    assert at_limit.keyword == "exclusiveMaximum"
    wrong = judge('{"depth": 1, "when": "now"}', _OLD, "draft-04")
    assert (wrong.own, wrong.keyword) == (TextVerdict.INVALID, "format")


def test_a_text_that_one_validator_refuses_is_not_valid() -> None:
    """By division of floats 0.3 is not a multiple of 0.1, as one of the two has it."""
    assert judge("0.3", '{"multipleOf": 0.1}', "2020-12").own is TextVerdict.INVALID
    assert judge("0.2", '{"multipleOf": 0.1}', "2020-12").own is TextVerdict.VALID


def test_each_reading_reads_the_text_itself() -> None:
    """Listing 10 and the published code read with Python's `json`, which takes NaN."""
    judgement = judge("NaN", "{}", "2020-12")
    assert (judgement.is_json, judgement.own) == (False, TextVerdict.INVALID)
    assert judgement.paper is judgement.published is TextVerdict.VALID


@pytest.mark.parametrize(("facts", "expected"), table(__file__, "classes"), ids=str)
def test_texts_are_classed_by_how_they_end(
    facts: dict[str, Any], expected: str
) -> None:
    """What is valid is compliant however it ended; else the ending decides.

    A thought, a refusal and a filter are no broken JSON; without a text the engine's
    end is the class.
    """
    ended = {"id": "x", "result": "ok", "ending": "end", **facts}
    made = msgspec.convert(ended, Generation)
    judgement = judge(made.text, _OLD, "draft-04") if made.generated else None
    assert classify(made, judgement) == expected


@pytest.mark.slow
def test_a_schema_that_hangs_a_validator_leaves_the_text_undecided() -> None:
    """A deadline ends the validator, and the next text is judged as if nothing was."""
    branches: dict[str, object] = {"$ref": "#/$defs/0"}
    defs = {
        str(level): {
            "anyOf": [
                {"allOf": [{"$ref": f"#/$defs/{level + 1}"}, {"minLength": 1}]},
                {"allOf": [{"$ref": f"#/$defs/{level + 1}"}, {"minLength": 2}]},
                {"allOf": [{"$ref": f"#/$defs/{level + 1}"}, {"minLength": 3}]},
            ]
        }
        for level in range(24)
    }
    bomb = json.dumps({**branches, "$defs": {**defs, "24": {"type": "number"}}})
    chosen = choose_suite("coverage")
    impatient = replace(chosen, suite=replace(chosen.suite, scoring_seconds=1.0))
    slow = Record(id="slow", schema=bomb)
    pairs = [
        (slow, Response(record="slow", text='"abcdef"')),
        (Record(id="quick", schema="{}"), Response(record="quick", text="1")),
    ]
    first, second = score_all(impatient, pairs, jobs=1)
    assert name_class(first) is TextClass.UNDECIDED
    judgement = read_judgement(first)
    assert judgement is not None
    assert judgement.own is TextVerdict.UNDECIDED
    assert second.passed


def test_the_prompt_has_the_two_examples_of_the_paper() -> None:
    """By default too, as its Figure 3."""
    for reading in ("", "paper"):
        choice = choose_suite("coverage", {}, reading)
        turns = choice.prompt(Record(id="a", schema="{}")).messages
        text = "\n".join(turn.content for turn in turns)
        assert text.count("## Expected Output:") == 3


def test_a_witness_of_another_dialect_need_not_pass_as_in_the_paper() -> None:
    """A draft-04 `exclusiveMinimum` is no schema under 2020-12; a newer one is."""
    old = '{"minimum": 1, "exclusiveMinimum": true}'
    for schema, expected in ((old, "violates"), ('{"minimum": 1}', "")):
        record = Record(id="a", schema=schema, fields={"witnesses": ["2"]})
        own, paper = (
            next(iter(known_answers(record, CoverageSettings(dialect=dialect))))
            for dialect in ("", "2020-12")
        )
        assert (own.expected, paper.expected) == ("", expected)


@pytest.mark.parametrize(
    ("text", "schema", "listing_10", "published"),
    [
        *((text, "{}", ours, theirs)
          for text, ours, theirs in table(__file__, "readings")),
        # The published checkers refuse every address, and what is no string.
        *((json.dumps(value), json.dumps({"format": name}), ours, False)
          for name, right in (
              ("ipv4", "192.0.2.1"),
              ("ipv6", "2001:db8::1"),
              ("uuid", "6f2b1c3e-8a4d-4f10-9a77-0c5d2e1f3b44"),
          )
          for value, ours in ((right, True), ("no address", False), (7, True))),
        # A schema that is invalid under 2020-12, whatever its draft says of it.
        ("8", '{"maximum": 9, "exclusiveMaximum": true}', False, False),
        # Nothing is fetched; the network of tests would say so if asked.
        ("{}", '{"$ref": "http://example.com/elsewhere.json"}', False, False),
    ],
)  # fmt: skip
def test_listing_10_and_the_published_code_read_a_text(
    text: str, schema: str, *, listing_10: bool, published: bool
) -> None:
    """Back quotes and the letters j, s, o, n go off both ends before parsing."""
    assert accepts_by_listing_10(text, schema) is listing_10
    assert accepts_as_published(text, schema) is published


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "nonsense"]),
        "format": st.sampled_from(["date", "email", "regex"]),
        "minLength": st.integers(-1, 3),
        "items": st.just({"type": "integer"}),
    },
)


@given(_VALUES, _SCHEMAS)
def test_listing_10_is_listing_10(value: object, schema: dict[str, object]) -> None:
    """The very calls that the paper prints give the same answer."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        checker = jsonschema.FormatChecker()
        jsonschema.Draft202012Validator(schema, format_checker=checker).validate(value)
        expected = True
    except (jsonschema.SchemaError, jsonschema.ValidationError):
        expected = False
    assert accepts_by_listing_10(json.dumps(value), json.dumps(schema)) is expected


_SCHEMA = json.dumps(
    {
        "anyOf": [
            {"enum": ["low", "high"]},
            {"const": "slack"},
            {"type": ["object", "array", "string", "boolean", "null", "integer"]},
        ],
        "required": ["tide", "undeclared"],
        "properties": {"tide": {}, "when": {}},
    }
)


@pytest.mark.parametrize(("value", "trivial"), table(__file__, "trivial"))
def test_what_says_trivial_is_trivial(value: object, *, trivial: bool) -> None:
    """Bare constants, what an enum spells out, and nothing but what is required."""
    assert is_trivial(value, _SCHEMA) is trivial  # type: ignore[arg-type]  # JSON


@pytest.mark.parametrize("schema", ["true", "{}", '{"required": 7}', '{"enum": {}}'])
def test_any_schema_is_looked_through(schema: str) -> None:
    """A boolean, and keywords of another form, spell nothing out."""
    assert not is_trivial("low", schema)
    assert not is_trivial({"tide": 1}, schema)
    assert is_trivial(None, schema)


@pytest.mark.parametrize(
    ("text", "trivial"),
    [
        ("{}", True),
        ('{"depth": 1}', True),
        ('{"depth": 1, "when": "2024-01-01T00:00:00Z"}', False),
    ],
)
def test_what_is_required_is_trivial_where_there_is_more(
    text: str, *, trivial: bool
) -> None:
    """A schema that knows only required members asks for no more."""
    assert judge(text, _OLD, "draft-04").trivial is trivial
    schema = '{"required": ["tide"], "properties": {"tide": {}}}'
    assert not is_trivial({"tide": 1}, schema)
