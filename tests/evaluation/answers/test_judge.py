"""`judge`: a text and a schema in, a verdict with reasons and places out."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

import csbdata
from evaluation.answers.json_answers import JsonProblem

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json


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


def test_a_fault_has_its_places() -> None:
    """A pointer into the text, one into the schema, and a line with both."""
    schema: Json = {"properties": {"a/b": {"items": {"minimum": 3}}}}
    judgement = csbdata.judge('{"a/b": [4, 2]}', schema)
    (fault,) = judgement.faults
    assert fault.instance_path == "/a~1b/1"
    assert fault.schema_path == "/properties/a~1b/items/minimum"
    assert judgement.reasons == ("/a~1b/1: 2 is less than the minimum of 3 [minimum]",)


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


def test_a_number_of_a_schema_may_have_any_size() -> None:
    """The schema as a value is judged as its text is."""
    schema: Json = {"maximum": 10**30}
    assert csbdata.judge("5", schema)
    assert not csbdata.judge(str(10**31), schema)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", JsonProblem.SYNTAX),
        ("{a: 1}", JsonProblem.SYNTAX),
        ("[NaN]", JsonProblem.NOT_A_NUMBER),
        ("[" * 100_000, JsonProblem.TOO_DEEP),
        ('"\\ud800"', JsonProblem.LONE_SURROGATE),
    ],
)
def test_a_text_that_is_no_json_is_invalid_and_says_why(
    text: str, problem: JsonProblem
) -> None:
    """It never raises, whatever a model has written."""
    judgement = csbdata.judge(text, {})
    assert not judgement
    assert judgement.problem is problem
    assert judgement.reasons


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
    """Thinking, end tokens, fences and words go where a policy takes them off."""
    schema: Json = {"type": "object", "required": ["a"]}
    text = '<THINK>{</THINK>\n ```json\n{"a": 1}\n```</s>'
    assert not csbdata.judge(text, schema)
    assert csbdata.judge(text, schema, policy="outer_fence").score == 1
    assert csbdata.judge(f"So: {text}", schema, policy="first_fence")
    assert csbdata.judge('Here: {"a": 1}!', schema, policy="outer_braces")
    assert csbdata.judge("nothing", schema, policy="outer_braces").score == 0
    with pytest.raises(csbdata.CsbdataError, match="no policy 'fence'"):
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
