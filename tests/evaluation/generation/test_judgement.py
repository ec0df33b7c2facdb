"""Every text is in exactly one class, and the class is right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result
from evaluation.generation.judgement import Class, Judge, Judgement, Verdict, classify
from evaluation.generation.model import Ending, Generation

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Return a judge."""
    with Judge(seconds=20.0) as opened:
        yield opened


def _made(text: str, ending: Ending = Ending.END, **facts: object) -> Generation:
    given = {"id": "x", "result": Result.OK, "ending": ending, "text": text, **facts}
    return Generation(**given)  # type: ignore[arg-type]


def _class_of(judge: Judge, text: str, ending: Ending = Ending.END) -> Class:
    return classify(_made(text, ending), judge.judge(text, _OLD, "draft-04"))


def test_a_text_is_judged_under_its_own_dialect_and_as_the_paper_did(
    judge: Judge,
) -> None:
    """A draft-04 schema is no 2020-12 schema: the paper counted every text as wrong."""
    judgement = judge.judge('{"depth": 8}', _OLD, "draft-04")
    assert judgement.own is Verdict.VALID
    assert judgement.paper is Verdict.INVALID
    assert classify(_made('{"depth": 8}'), judgement) is Class.COMPLIANT


def test_the_violated_keyword_is_named(judge: Judge) -> None:
    """What is JSON and refused says by which keyword; formats are asserted."""
    at_limit = judge.judge('{"depth": 9}', _OLD, "draft-04")
    assert at_limit.keyword == "exclusiveMaximum"
    wrong = judge.judge('{"depth": 1, "when": "now"}', _OLD, "draft-04")
    assert (wrong.own, wrong.keyword) == (Verdict.INVALID, "format")


@pytest.mark.parametrize(
    ("text", "ending", "expected"),
    [
        ('{"depth": 9}', Ending.END, Class.VIOLATES),
        ('{"depth": ', Ending.END, Class.NOT_JSON),
        ("null and void", Ending.END, Class.NOT_JSON),
        ('{"depth": NaN}', Ending.END, Class.NOT_JSON),
        ('{"depth": 1', Ending.TRUNCATED, Class.TRUNCATED),
        ('{"depth": 1}', Ending.TRUNCATED, Class.COMPLIANT),
        ('{"depth":' + " " * 60, Ending.TRUNCATED, Class.RUNAWAY_WHITESPACE),
        ('{"depth":' + "\n\t" * 60, Ending.TRUNCATED, Class.RUNAWAY_WHITESPACE),
        ('{"depth": 1', Ending.DEAD_END, Class.DEAD_END),
        ('{"depth": 1', Ending.MODEL, Class.MODEL_ERROR),
    ],
)
def test_texts_are_classed_by_how_they_end(
    judge: Judge, text: str, ending: Ending, expected: Class
) -> None:
    """What is valid is compliant however it ended; else the ending decides."""
    assert _class_of(judge, text, ending) is expected


@pytest.mark.parametrize(
    ("result", "compile_ns", "expected"),
    [
        (Result.COMPILE_ERROR, None, Class.COMPILE_ERROR),
        (Result.TIMEOUT, None, Class.COMPILE_TIMEOUT),
        (Result.TIMEOUT, 5, Class.TIMEOUT),
        (Result.CRASH, None, Class.CRASH),
        (Result.OUT_OF_MEMORY, None, Class.OUT_OF_MEMORY),
        (Result.ERROR, 5, Class.ENGINE_ERROR),
        (Result.PROTOCOL_ERROR, 5, Class.ENGINE_ERROR),
    ],
)
def test_what_an_engine_ended_is_classed_by_its_result(
    result: Result, compile_ns: int | None, expected: Class
) -> None:
    """Without a text the engine's own end is the class."""
    made = Generation(
        id="x", result=result, ending=Ending.ENGINE, compile_ns=compile_ns
    )
    assert classify(made, None) is expected


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
    with Judge(seconds=1.0) as impatient:
        slow = impatient.judge('"abcdef"', bomb, "2020-12")
        assert slow.own is Verdict.UNDECIDED
        assert classify(_made('"abcdef"'), slow) is Class.UNDECIDED
        assert impatient.judge("1", "{}", "2020-12").own is Verdict.VALID


@pytest.mark.parametrize(
    ("text", "trivial"),
    [
        ("{}", True),
        ('{"depth": 1}', True),
        ('{"depth": 1, "when": "2024-01-01T00:00:00Z"}', False),
        ("[]", False),
    ],
)
def test_a_text_that_says_next_to_nothing_is_trivial(
    judge: Judge, text: str, *, trivial: bool
) -> None:
    """`{}`, or nothing but what is required at the root, is called trivial."""
    assert judge.judge(text, _OLD, "draft-04").trivial is trivial


def test_the_adapted_schema_is_judged_apart(judge: Judge) -> None:
    """What satisfies the schema that was sent need not satisfy the record's."""
    judgement: Judgement = judge.judge('{"depth": 9}', _OLD, "draft-04", "{}")
    assert (judgement.own, judgement.adapted) == (Verdict.INVALID, Verdict.VALID)
