"""Every text is in exactly one class, and the class is right."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluation.asking.request import choose_suite
from evaluation.asking.scoring import score_all
from evaluation.core.cases import Result
from evaluation.core.records import Record, Response
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.suites.coverage.judgement import (
    Judgement,
    TextClass,
    TextVerdict,
    classify,
)
from evaluation.suites.coverage.scorer import judge, known_answers
from evaluation.suites.coverage.suite import CoverageSettings
from evaluation.suites.coverage.texts import class_of, judgement_of

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


def _made(
    text: str,
    ending: TextEnding = TextEnding.END,
    *,
    reasoning: str = "",
    tagged: bool = False,
) -> Generation:
    return Generation(
        id="x",
        result=Result.OK,
        ending=ending,
        text=text,
        reasoning=reasoning,
        tagged=tagged,
    )


def _class_of(text: str, ending: TextEnding = TextEnding.END) -> TextClass:
    return classify(_made(text, ending), judge(text, _OLD, "draft-04"))


def test_a_text_is_judged_under_its_own_dialect_and_as_the_paper_did() -> None:
    """A draft-04 schema is no 2020-12 schema: the paper counted every text as wrong."""
    judgement = judge('{"depth": 8}', _OLD, "draft-04")
    assert judgement.own is TextVerdict.VALID
    assert judgement.paper is TextVerdict.INVALID
    assert classify(_made('{"depth": 8}'), judgement) is TextClass.COMPLIANT


def test_the_violated_keyword_is_named() -> None:
    """What is JSON and refused says by which keyword; formats are asserted."""
    at_limit = judge('{"depth": 9}', _OLD, "draft-04")
    assert at_limit.keyword == "exclusiveMaximum"
    wrong = judge('{"depth": 1, "when": "now"}', _OLD, "draft-04")
    assert (wrong.own, wrong.keyword) == (TextVerdict.INVALID, "format")


def test_each_reading_reads_the_text_itself() -> None:
    """Listing 10 and the published code read with Python's `json`, which takes NaN."""
    judgement = judge("NaN", "{}", "2020-12")
    assert (judgement.is_json, judgement.own) == (False, TextVerdict.INVALID)
    assert judgement.paper is judgement.published is TextVerdict.VALID


@pytest.mark.parametrize(
    ("text", "ending", "expected"),
    [
        ('{"depth": 9}', TextEnding.END, TextClass.VIOLATES),
        ('{"depth": ', TextEnding.END, TextClass.NOT_JSON),
        ("null and void", TextEnding.END, TextClass.NOT_JSON),
        ('{"depth": NaN}', TextEnding.END, TextClass.NOT_JSON),
        ('{"depth": 1, "high": 1e999}', TextEnding.END, TextClass.NOT_JSON),
        ('{"depth": 1, "name": "\\ud800"}', TextEnding.END, TextClass.NOT_JSON),
        ('{"depth": 1', TextEnding.TRUNCATED, TextClass.TRUNCATED),
        ('{"depth": 1}', TextEnding.TRUNCATED, TextClass.COMPLIANT),
        ('{"depth":' + " " * 60, TextEnding.TRUNCATED, TextClass.RUNAWAY_WHITESPACE),
        ('{"depth":' + "\n\t" * 60, TextEnding.TRUNCATED, TextClass.RUNAWAY_WHITESPACE),
        ('{"depth": 1', TextEnding.DEAD_END, TextClass.DEAD_END),
        ('{"depth": 1', TextEnding.MODEL, TextClass.MODEL_ERROR),
    ],
)
def test_texts_are_classed_by_how_they_end(
    text: str, ending: TextEnding, expected: TextClass
) -> None:
    """What is valid is compliant however it ended; else the ending decides."""
    assert _class_of(text, ending) is expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (_made("", reasoning="a crate"), TextClass.REASONING_ONLY),
        (_made("", reasoning="a crate", tagged=True), TextClass.THINK_TEXT),
        (_made("", tagged=True), TextClass.THINK_TEXT),
        (_made("", TextEnding.REFUSED), TextClass.REFUSAL),
        (_made("", TextEnding.FILTERED), TextClass.CONTENT_FILTER),
        (_made("", TextEnding.REQUEST), TextClass.REQUEST_REFUSED),
        (_made(""), TextClass.NOT_JSON),
    ],
)
def test_no_answer_is_classed_by_what_came_instead(
    made: Generation, expected: TextClass
) -> None:
    """A thought, a refusal and a filter are no broken JSON; nothing at all is."""
    assert classify(made, Judgement(is_json=False)) is expected


@pytest.mark.parametrize(
    ("result", "compile_ns", "expected"),
    [
        (Result.COMPILE_ERROR, None, TextClass.COMPILE_ERROR),
        (Result.TIMEOUT, None, TextClass.COMPILE_TIMEOUT),
        (Result.TIMEOUT, 5, TextClass.TIMEOUT),
        (Result.CRASH, None, TextClass.CRASH),
        (Result.OUT_OF_MEMORY, None, TextClass.OUT_OF_MEMORY),
        (Result.ERROR, 5, TextClass.ENGINE_ERROR),
        (Result.PROTOCOL_ERROR, 5, TextClass.ENGINE_ERROR),
    ],
)
def test_what_an_engine_ended_is_classed_by_its_result(
    result: Result, compile_ns: int | None, expected: TextClass
) -> None:
    """Without a text the engine's own end is the class."""
    made = Generation(
        id="x", result=result, ending=TextEnding.ENGINE, compile_ns=compile_ns
    )
    assert classify(made, None) is expected


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
    assert class_of(first) is TextClass.UNDECIDED
    judgement = judgement_of(first)
    assert judgement is not None
    assert judgement.own is TextVerdict.UNDECIDED
    assert second.passed


@pytest.mark.parametrize(
    ("text", "trivial"),
    [
        ("{}", True),
        ('{"depth": 1}', True),
        ('{"depth": 1, "when": "2024-01-01T00:00:00Z"}', False),
        ("[]", True),
    ],
)
def test_a_text_that_says_next_to_nothing_is_trivial(
    text: str, *, trivial: bool
) -> None:
    """`{}`, or nothing but what is required at the root, is called trivial."""
    assert judge(text, _OLD, "draft-04").trivial is trivial


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
