"""An answer is taken out of a response, read as JSON, and judged by its schema."""

from __future__ import annotations

from functools import reduce
from time import process_time
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

import csbdata
from evaluation.answers.extraction import (
    MAX_LEVELS,
    POLICIES,
    JsonProblem,
    MissingAnswer,
    NoAnswer,
    TriageRules,
    outer_fence,
    read_json_answer,
    split_thinking,
    triage,
)
from evaluation.answers.json_search import find_json
from evaluation.core.records import Response
from tests.tables import table

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", JsonProblem.SYNTAX),
        ('{"a": 1} {"b": 2}', JsonProblem.SYNTAX),
        ("{'a': 1}", JsonProblem.SYNTAX),
        ('{"a": NaN}', JsonProblem.NOT_A_NUMBER),
        ("[-Infinity]", JsonProblem.NOT_A_NUMBER),
        ("[1e999]", JsonProblem.NOT_A_NUMBER),
        ("1" * 5000, JsonProblem.NOT_A_NUMBER),
        ('["\\ud800"]', JsonProblem.LONE_SURROGATE),
        ("[" * 10_000 + "]" * 10_000, JsonProblem.TOO_DEEP),
        ("[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1), JsonProblem.TOO_DEEP),
    ],
)
def test_what_is_no_json_says_why(text: str, problem: JsonProblem) -> None:
    """Nothing raises, whatever a model wrote; no such text is valid."""
    assert read_json_answer(text).problem is problem
    judgement = csbdata.judge(text, {})
    assert (bool(judgement), judgement.problem) == (False, problem)
    assert judgement.reasons


def test_what_two_parsers_may_read_differently_is_noted() -> None:
    """Of a name that stands twice the last member counts, and the name is told."""
    found = read_json_answer('{"a": 1, "b": {"a": 1, "a": 2}, "a": 3}')
    assert found.value == {"a": 3, "b": {"a": 2}}
    assert found.duplicates == ("a",)
    names = ", ".join(f'"{number}": 1' for number in range(90_000))
    began = process_time()
    assert read_json_answer(f'{{"7": 0, {names}}}').duplicates == ("7",)
    assert process_time() - began < 20


def test_a_whole_surrogate_pair_is_a_character() -> None:
    """An escaped pair is text like any other."""
    assert read_json_answer('["\\ud83d\\ude00"]').value == ["\U0001f600"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{name: "Ada", tags: ["a"], x: 1}', None),
        ("[{a: [1], b: 2}]", None),
        ('{a: "' + '\\"' * 100_000, None),
        ('{a: "}", b: [1], c: 2}', None),
        ('{a: [1], b: 2} I mean {"a": [1]}.', {"a": [1]}),
    ],
)
def test_nothing_inside_of_a_broken_value_is_an_answer(text: str, value: Json) -> None:
    """Names without quotes make no JSON, whatever array stands among the members."""
    answer = find_json(text)
    assert answer.value == value
    assert (answer.problem is None) is (value is not None)


@pytest.mark.parametrize(("policy", "text", "taken"), table(__file__, "policies"))
def test_a_policy_takes_an_answer_out(policy: str, text: str, taken: str) -> None:
    """Each policy takes out exactly what its source would."""
    assert POLICIES[policy](text) == taken


@pytest.mark.parametrize(
    ("text", "answer", "thinking", "unclosed"), table(__file__, "thoughts")
)
def test_thinking_is_split_off(
    text: str, answer: str, thinking: str, *, unclosed: bool
) -> None:
    """Tags, channels and end tokens come off; what is left is the answer."""
    found = split_thinking(text)
    assert (found.answer, found.thinking, found.unclosed) == (
        answer,
        thinking,
        unclosed,
    )


@pytest.mark.parametrize(
    "text",
    [
        *(" " * 400_000, "</think>" * 130_000, "<think>" * 50_000),
        *("</s> " * 50_000 + "x", "<think>[/think]" * 50_000),
    ],
)
def test_long_texts_are_read_in_one_pass(text: str) -> None:
    """Text of one repeated piece takes no longer than its length (it took hours)."""
    began = process_time()
    assert not split_thinking(text).answer.strip("x </s>")
    assert process_time() - began < 60


def kind_of(rules: TriageRules | None = None, **response: str | None) -> str:
    """Return the reason why a response has no answer, or its answer."""
    answer = triage(
        Response(record="a", **response),  # type: ignore[arg-type]  # fields by name
        rules or TriageRules(),
    )
    return str(answer.kind) if isinstance(answer, MissingAnswer) else answer


@pytest.mark.parametrize(("response", "expected"), table(__file__, "triage"))
def test_a_response_is_sorted_out_by_the_usual_rules(
    response: dict[str, str | None], expected: str
) -> None:
    """Failures, refusals, thinking without an answer, and answers."""
    assert kind_of(None, **response) == expected


def test_each_rule_of_a_suite_changes_one_thing() -> None:
    """Errors beside a text, refusals, thinking, length and policy."""
    assert kind_of(TriageRules(), text="[1]", error="late") == NoAnswer.FAILED
    words = TriageRules(refuses_in_words=True)
    assert kind_of(words, text="I'm sorry, I can't.") == NoAnswer.REFUSED
    for answer in ("I'm sorry: [1]", '"Sorry, we are closed."'):
        assert kind_of(words, text=answer) == answer
    whole = TriageRules(splits_thinking=False)
    assert kind_of(whole, text="<think>Hm.") == "<think>Hm."
    assert kind_of(TriageRules(longest=2), text="[1]") == NoAnswer.TOO_LARGE
    fenced = TriageRules(policy=outer_fence)
    assert kind_of(fenced, text="```json\n[1]\n```") == "[1]"
    assert kind_of(fenced, text="```json\n```") == NoAnswer.EMPTY


def _rows(build: Path, name: str) -> pl.DataFrame:
    return pl.concat(
        pl.read_parquet(file, hive_partitioning=False)
        for file in sorted(build.glob(f"{name}/*.p*q*"))
    )


def test_it_agrees_with_every_label_of_the_sample(
    sample_build: Path,
) -> None:
    """Witnesses are valid, near misses are not, and every fault names its keyword."""
    schemas = dict(
        _rows(sample_build, "Github_easy")
        .select("unique_id", "json_schema")
        .iter_rows()
    )
    instances = _rows(sample_build, "instances/Github_easy")
    judged = 0
    for record, text, valid in instances.select(
        "unique_id", "text", "valid"
    ).iter_rows():
        judgement = csbdata.judge(text, schemas[record])
        assert judgement.valid == valid, (record, text)
        assert bool(judgement) == (not judgement.reasons)
        assert valid or all(fault.keyword for fault in judgement.faults)
        judged += 1
    assert judged > 100


def test_a_judgement_names_duplicate_keys() -> None:
    """Valid or not: the last value counts, as for most parsers."""
    schema: Json = {"additionalProperties": {"type": "integer"}}
    for text, valid in (('{"a": "x", "a": 2}', True), ('{"a": 1, "a": "x"}', False)):
        judgement = csbdata.judge(text, schema)
        assert (judgement.valid, judgement.duplicates) == (valid, ("a",))


def test_a_fault_has_its_places() -> None:
    """A pointer into the text, one into the schema, and a line with both."""
    schema: Json = {"properties": {"a/b": {"items": {"minimum": 3}}}}
    judgement = csbdata.judge('{"a/b": [4, 2]}', schema)
    (fault,) = judgement.faults
    assert fault.instance_path == "/a~1b/1"
    assert fault.schema_path == "/properties/a~1b/items/minimum"
    assert judgement.reasons == ("/a~1b/1: 2 is less than the minimum of 3 [minimum]",)


@pytest.mark.parametrize("assertion", [{"format": "date"}, {"maxLength": 1}])
def test_a_fault_names_its_keyword(assertion: dict[str, Json]) -> None:
    """A format too, and none of the keywords that are names of properties."""
    schema: Json = {"properties": {"enum": assertion}}
    (fault,) = csbdata.judge('{"enum": "yesterday"}', schema).faults
    assert fault.keyword in assertion


def test_a_place_has_its_names_whole() -> None:
    """A name of digits is no number, and an empty one is a name."""
    integer: Json = {"type": "integer"}
    schema: Json = {"anyOf": [{"additionalProperties": integer}, integer]}
    judgement = csbdata.judge('{"007": "x", "": 1}', schema)
    assert [fault.instance_path for fault in judgement.faults] == ["/007"]
    inner: Json = {"properties": {"": {"properties": {"": integer}}}}
    judgement = csbdata.judge('{"": {"": null}}', inner)
    assert [fault.instance_path for fault in judgement.faults] == ["//"]


def test_a_value_of_two_branches_of_one_of_breaks_one_of() -> None:
    """No fault of a third branch is told: mending that one would mend nothing."""
    schema: Json = {"oneOf": [{"type": "integer"}, {"minimum": 0}, {"type": "string"}]}
    (fault,) = csbdata.judge("5", schema).faults
    assert (fault.keyword, fault.schema_path) == ("oneOf", "/oneOf")
    (fault,) = csbdata.judge("-0.5", schema).faults
    assert fault.keyword != "oneOf"


def test_of_branches_the_one_counts_that_fails_deepest() -> None:
    """However many faults it has: the others are further from what was meant."""
    integer: Json = {"type": "integer"}
    inner: Json = {"properties": {"b": integer, "c": integer}}
    schema: Json = {"anyOf": [{"type": "string"}, {"properties": {"a": inner}}]}
    faults = csbdata.judge('{"a": {"b": "x", "c": "y"}}', schema).faults
    assert [fault.instance_path for fault in faults] == ["/a/b", "/a/c"]


def test_a_number_of_a_schema_may_have_any_size() -> None:
    """The schema as a value is judged as its text is."""
    schema: Json = {"maximum": 10**30}
    assert csbdata.judge("5", schema)
    assert not csbdata.judge(str(10**31), schema)


def _deep(depth: int) -> Json:
    return reduce(lambda inner, _: {"not": inner}, range(depth), cast("Json", {}))


@pytest.mark.parametrize(
    "schema",
    [
        *(5, None, [], "{", {"type": "strng"}, {"$ref": "#/x"}, {"$ref": "http://x/y"}),
        pytest.param(_deep(3_000), id="deep"),
    ],
    ids=str,
)
def test_what_is_no_schema_is_the_callers_mistake(schema: Json) -> None:
    """It is no verdict on the text; nothing is fetched."""
    with pytest.raises(csbdata.CsbdataError, match=r"this .*schema|this is no JSON"):
        csbdata.judge("1", schema)


def test_formats_are_asserted_unless_told_otherwise() -> None:
    """As the benchmark's labels have it."""
    schema: Json = {"format": "date"}
    assert not csbdata.judge('"yesterday"', schema)
    assert csbdata.judge('"yesterday"', schema, formats=False)


def test_a_policy_takes_the_json_out_of_its_envelope() -> None:
    """Thinking, end tokens and fences go where a policy takes them off."""
    schema: Json = {"type": "object", "required": ["a"]}
    text = '<THINK>{</THINK>\n ```json\n{"a": 1}\n```</s>'
    assert not csbdata.judge(text, schema)
    assert csbdata.judge(text, schema, policy="outer_fence").score == 1
    assert csbdata.judge("nothing", schema, policy="outer_fence").score == 0
    with pytest.raises(csbdata.CsbdataError, match="unknown policy 'fence'"):
        csbdata.judge(text, schema, policy="fence")


@pytest.mark.parametrize("given", [b"{}", {}, None])
def test_what_is_no_text_is_refused_with_what_to_give(given: object) -> None:
    """A value that was parsed already, or bytes: one line says what to give."""
    with pytest.raises(csbdata.CsbdataError, match=r"no text to judge.*json\.dumps"):
        csbdata.judge(cast("str", given), {})


def test_a_score_rises_with_what_is_met() -> None:
    """0 for no JSON, more the fewer assertions fail, 1 for what is valid alone."""
    names = ("a", "b", "c")
    schema: Json = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": [*names],
    }
    texts = ("{", '{"a": "x", "b": "x", "c": "x"}', '{"a": 1, "b": "x", "c": "x"}')
    more = ('{"a": 1, "b": 2, "c": "x"}', '{"a": 1, "b": 2, "c": 3}')
    scores = [csbdata.judge(text, schema).score for text in (*texts, *more)]
    assert scores == sorted(set(scores))
    assert (scores[0], scores[-1]) == (0, 1)
    assert scores[1] == pytest.approx((2 - 3 / 5) / 3)
    assert csbdata.judge("[]", "true").score == 1
    assert csbdata.judge("[]", "false").score == pytest.approx(1 / 3)


def test_a_schemas_text_may_begin_with_a_byte_order_mark() -> None:
    """It is judged and rewarded as without."""
    schema = '\ufeff{"properties": {"a": {"type": "integer"}}}'
    assert csbdata.judge('{"a": 1}', schema)
    assert csbdata.reward('{"a": 1}', schema) == 1
