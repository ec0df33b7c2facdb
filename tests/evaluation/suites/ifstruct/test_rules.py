"""The rules: golden vectors, two readings, and texts that must do no harm."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.ifstruct.answer_text import find_code_block
from evaluation.suites.ifstruct.rows import AnswerFormat, Fence
from evaluation.suites.ifstruct.settings import (
    LOST_REQUIREMENTS,
    PUBLISHED_CLASSES,
    Failure,
    RuleReading,
)
from tests.evaluation.suites.ifstruct.judged import (
    BAN,
    BLOCK,
    BOXED,
    ITEM,
    JSON,
    PLAIN,
    YAML,
    failures_of,
    judge,
)

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import Requirements


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PLAIN, JSON),
        (BLOCK, JSON),
        (f"Here:\n{BLOCK}", JSON),
        (f"{BLOCK}\nHope it helps!", JSON),
        ('[{"id": 1, "id": 2}]', JSON),
        ('[{"id": 1, "t": "a ``` b"}]', JSON),
        ('[{"id": 1, "t": "```"}]', JSON),
        ('\r\n[{"id":\r\n1}]\r\n', JSON),
        (BLOCK.replace("\n", "\r\n"), BAN),
        (f"<think>hm {{[</think>{PLAIN}", BAN),
        (f"so I begin</think>\n{PLAIN}<|end|>", BAN),
        (f"<|start|>assistant<|channel|>final<|message|>{PLAIN}<|return|>", BAN),
        (f" {BLOCK}", BAN),
        ('{"box": [{"id": 1}]}', BOXED),
        ("- id: 1", YAML),
        ("- id: 1\n  t: 2024-01-01", YAML),
        ("---\n- id: 1\n...", YAML),
        ("```yaml\n- id: 1\n```", YAML),
        ("```\n- id: 1\n```", YAML),
        ('- id: 1\n  t: "no"', YAML),
        ("- &a\n  id: 1", YAML),
        ("- id: 1\n  t: |\n    ```\n    code\n    ```", YAML),
    ],
)
def test_what_passes(text: str, wanted: Requirements) -> None:
    """Each of these answers keeps every rule, by both readings."""
    assert judge(text, wanted).findings == ()


@pytest.mark.parametrize(
    ("text", "wanted", "published"),
    [
        (f"```\n{PLAIN} done\n```", JSON, [Failure.TRAILING_TEXT]),
        (f"{BLOCK} Hope it helps!", BAN, [Failure.COMMENTARY]),
        (f"Here:\n{BLOCK}", BAN, [Failure.COMMENTARY]),
        (f"Here: {PLAIN}", BAN, [Failure.COMMENTARY, Failure.LEADING_TEXT]),
        ('[{"id": 1.0}]', JSON, [Failure.WRONG_TYPE]),
        ('[{"id": true}]', JSON, [Failure.WRONG_TYPE]),
        ('{"x": [{"id": 1}]}', JSON, [Failure.WRAPPED]),
        ('{"x": [{"id": 1}]}', BOXED, [Failure.WRONG_WRAPPER_KEY]),
        (PLAIN, BOXED, [Failure.NOT_WRAPPED]),
        ('{"box": [{"id": 1}], "n": 1}', BOXED, [Failure.NOT_A_LIST]),
        ('{"box": {"id": 1}}', BOXED, [Failure.NOT_A_LIST]),
        ('[{"id": 1, "x": 1}]', JSON, [Failure.UNKNOWN_FIELD]),
        ('[{"id": 1, "t": null}]', JSON, [Failure.WRONG_TYPE]),
        ('[{"t": "a"}]', JSON, [Failure.MISSING_FIELD]),
        ('[{"id": 6}]', JSON, [Failure.ABOVE_MAXIMUM]),
        ('[{"id": 0}]', JSON, [Failure.BELOW_MINIMUM]),
        (
            '[{"id": 1}, {"id": 2}, {"id": 3}]',
            JSON,
            [Failure.ITEM_COUNT, Failure.ITEM_COUNT],
        ),
        ("```json\n[{", JSON, [Failure.UNCLOSED_FENCE]),
        ("```json [1]```", JSON, [Failure.UNCLOSED_FENCE]),
        ("```yaml\n[]\n```", JSON, [Failure.WRONG_FORMAT]),
        ("- id: 1", JSON, [Failure.WRONG_FORMAT]),
        ('[{"id": 1,}]', JSON, [Failure.INVALID_JSON]),
        ("I cannot help with that.", JSON, [Failure.INVALID_JSON]),
        ("", JSON, [Failure.EMPTY]),
        (" \n\t", YAML, [Failure.EMPTY]),
        ("```json\n\n```", JSON, [Failure.EMPTY]),
        (f"<think>{PLAIN}", JSON, [Failure.THINKING_UNCLOSED]),
        (f"<think>{PLAIN}", YAML, [Failure.THINKING_UNCLOSED]),
        ("[1, 2", JSON, [Failure.INVALID_JSON]),
        ("text", JSON, [Failure.INVALID_JSON]),
        (PLAIN, YAML, [Failure.WRONG_FORMAT]),
        ("- {id: 1}", YAML, [Failure.WRONG_FORMAT]),
        ("```yaml\n- {id: 1}\n```", YAML, [Failure.WRONG_FORMAT]),
        (BLOCK, YAML, [Failure.WRONG_FORMAT]),
        ("- id: 1\n  t: no", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 1.10", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 012", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: 1:30", YAML, [Failure.COERCED_SCALAR]),
        ("- id: 1\n  t: ~", YAML, [Failure.COERCED_SCALAR]),
        ("- id: .inf", YAML, [Failure.WRONG_TYPE]),
        ("- id: 012", YAML, [Failure.ABOVE_MAXIMUM]),
        ("- id: 1\n\tt: a", YAML, [Failure.YAML_TAB]),
        ("- id: 1\n  t: a: b", YAML, [Failure.INVALID_YAML]),
        ("- id: 1\n---\n- id: 1", YAML, [Failure.INVALID_YAML]),
        ("- *a", YAML, [Failure.INVALID_YAML]),
        ("# nothing", YAML, [Failure.INVALID_YAML]),
        ("- id: 1\n  ? [a]\n  : b", YAML, [Failure.INVALID_YAML]),
        ("just words", YAML, [Failure.NOT_A_LIST]),
    ],
)
def test_what_fails_and_why(
    text: str, wanted: Requirements, published: list[Failure]
) -> None:
    """Each of these answers has the failures that are named, and passes by no reading.

    The recommended reading books a wrong number of items once.
    """
    assert failures_of(text, wanted, RuleReading.PUBLISHED) == published
    recommended = list(dict.fromkeys(published))
    assert failures_of(text, wanted, RuleReading.RECOMMENDED) == recommended


def test_scalars_are_counted() -> None:
    """A missing list counts with the scalars that it would have held."""
    nested = {"type": "array", "minItems": 2, "items": ITEM}
    schema = {
        "items": {
            "properties": {"a": {"type": "string"}, "b": nested},
            "required": ["a", "b"],
        }
    }
    wanted = replace(JSON, schema=schema)
    good = '[{"a": "x", "b": [{"id": 1, "t": "y"}, {"id": 9, "t": "z"}]}]'
    verdict = judge(good, wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (4, 5)
    verdict = judge('[{"a": "x"}]', wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (1, 5)
    verdict = judge('[{"a": "x", "b": [{"id": 1, "t": "y"}]}]', wanted)
    assert (verdict.fields_passed, verdict.fields_total) == (3, 5)


def test_a_place_is_a_path() -> None:
    """A finding says where in the list it is."""
    (found,) = judge('[{"id": "one"}]', JSON).findings
    assert (found.place, found.detail) == ("[0].id", "string for integer")


def test_json_of_another_reader_is_the_same() -> None:
    """What `json` reads, the verifier reads."""
    text = json.dumps([{"id": 1, "t": "æ\u2028\n"}])
    assert judge(text, JSON).findings == ()


def test_every_failure_is_explained_and_belongs_to_a_requirement() -> None:
    """No class lacks its sentence."""
    for failure in Failure:
        assert failure.explanation
        assert PUBLISHED_CLASSES.get(failure, "") or failure in LOST_REQUIREMENTS


@pytest.mark.parametrize(
    ("text", "fence", "recommended"),
    [
        (BLOCK, "forbidden", [Failure.FORBIDDEN_FENCE]),
        (
            BLOCK.replace("json", "text"),
            "required:json",
            [Failure.WRONG_FENCE_LANGUAGE],
        ),
        (BLOCK.replace("json", ""), "required:json", [Failure.WRONG_FENCE_LANGUAGE]),
        (BLOCK, "required:json", []),
        (BLOCK.replace("json", "JSON"), "required:json", []),
        (BLOCK.replace("json", "js"), "required", []),
        (PLAIN, "forbidden", []),
        (PLAIN, "free", []),
        (f"{BLOCK}\n{BLOCK}", "free", [Failure.SEVERAL_FENCES]),
    ],
)
def test_where_the_readings_differ(
    text: str, fence: str, recommended: list[Failure]
) -> None:
    """A forbidden block, its language and a second block count by one reading only."""
    wanted = replace(BAN, fence=Fence.parse(fence))
    assert failures_of(text, wanted, RuleReading.PUBLISHED) == []
    assert failures_of(text, wanted, RuleReading.RECOMMENDED) == recommended


def test_a_tag_that_the_published_verifier_does_not_know_opens_no_thinking_there() -> (
    None
):
    """What follows it is read, as text around a block."""
    wanted, text = replace(BAN, commentary=True), f"<thought>\n{BLOCK}"
    assert failures_of(text, wanted, RuleReading.PUBLISHED) == []
    unclosed = [Failure.THINKING_UNCLOSED]
    assert failures_of(text, wanted, RuleReading.RECOMMENDED) == unclosed


@pytest.mark.parametrize(
    ("text", "published"),
    [
        (f"Here: {PLAIN}", Failure.LEADING_TEXT),
        (f"{PLAIN} done", Failure.TRAILING_TEXT),
        (f"\ufeff{PLAIN}", Failure.BYTE_ORDER_MARK),
        (f"{PLAIN}<|im_end|>", Failure.TRAILING_TEXT),
        (f"{PLAIN}<|end|><|return|>", Failure.TRAILING_TEXT),
        (f"<|channel|>final<|message|>{PLAIN}", Failure.LEADING_TEXT),
        (f"<thinking>a</thinking>{PLAIN}", Failure.LEADING_TEXT),
        ('[{"id": 1, "t": "<think>"}]', Failure.INVALID_JSON),
    ],
)
def test_what_the_published_verifier_takes_for_a_part_of_an_answer(
    text: str, published: Failure
) -> None:
    """Marks, tokens, tags and words that no request is about fail by one reading."""
    assert failures_of(text, JSON, RuleReading.RECOMMENDED) == []
    assert failures_of(text, JSON, RuleReading.PUBLISHED)[0] is published


@pytest.mark.parametrize(
    "text",
    [
        "- id: 1\n  t: one\ttwo",
        "- id: 1\n  t:\tone",
        "- id:\t 1\n  t: one",
        "- id: 1\n\ufeff t: one",
    ],
)
def test_white_space_that_pyyaml_does_not_read(text: str) -> None:
    """Tabs between words are YAML, and the published verifier's reader refuses them."""
    assert failures_of(text, YAML, RuleReading.RECOMMENDED) == []
    assert failures_of(text, YAML, RuleReading.PUBLISHED) == [Failure.INVALID_YAML]


def test_a_tab_in_quotes_is_read_by_both() -> None:
    """PyYAML is asked and reads it."""
    text = '- id: 1\n  t: "one\ttwo"'
    assert failures_of(text, YAML, RuleReading.PUBLISHED) == []


@pytest.mark.parametrize("fence", ["required", "required:json"])
def test_a_required_block_that_is_not_there_fails_by_both(fence: str) -> None:
    """Without a block, or with one that is never closed, the wish is not met."""
    wanted = replace(JSON, fence=Fence.parse(fence))
    for reading in (RuleReading.PUBLISHED, RuleReading.RECOMMENDED):
        assert failures_of(PLAIN, wanted, reading) == [Failure.MISSING_FENCE]
        unclosed = [Failure.UNCLOSED_FENCE, Failure.MISSING_FENCE]
        assert failures_of(f"```json\n{PLAIN}", wanted, reading) == unclosed


def test_a_broken_end_is_commentary_by_the_published_rule_alone() -> None:
    """What follows the last bracket of JSON that is broken is booked twice there."""
    text = '[{"id": 1}, {"id'
    assert failures_of(text, BAN, RuleReading.RECOMMENDED) == [Failure.INVALID_JSON]
    both = [Failure.INVALID_JSON, Failure.COMMENTARY]
    assert failures_of(text, BAN, RuleReading.PUBLISHED) == both


def test_what_is_no_number_passes_by_the_published_rule_alone() -> None:
    """NaN passes bounds there; of two equal names the last counts in both readings."""
    wanted = replace(
        JSON, schema={"items": {"properties": {"n": {"type": "number", "maximum": 2}}}}
    )
    yaml = replace(wanted, format=AnswerFormat.YAML)
    fault = [Failure.WRONG_TYPE]
    for text, asked, faults in (
        ('[{"n": NaN}]', wanted, fault),
        ('[{"n": -Infinity}]', wanted, fault),
        ("- n: .nan", yaml, fault),
        ('[{"n": 3, "n": 1}]', wanted, []),
    ):
        assert failures_of(text, asked, RuleReading.RECOMMENDED) == faults
        assert failures_of(text, asked, RuleReading.PUBLISHED) == []


def test_merge_keys_are_those_of_pyyaml() -> None:
    """`<<` takes the members of another mapping over, as the safe loader does."""
    text = "- &a\n  id: 1\n- <<: *a\n  t: x"
    wanted = replace(YAML, least=2, most=2, schema={"items": ITEM})
    assert judge(text, wanted).findings == ()


_PLAIN_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.lists(_PLAIN_VALUES, min_size=1, max_size=3))
def test_yaml_is_read_as_the_safe_loader_does(value: object) -> None:
    """What PyYAML writes is read back as its own safe loader reads it."""
    text = yaml.safe_dump(value, default_flow_style=False, allow_unicode=True)
    open_list = replace(YAML, schema={}, least=1, most=3)
    failures = failures_of(text, open_list, RuleReading.BOTH)
    # An empty list is written in brackets, and `[]` as the whole is none of these.
    assert set(failures) <= {Failure.WRONG_FORMAT} if "{}" in text else failures == []


@pytest.mark.parametrize(
    "text",
    [
        f"<think>a</think>{PLAIN}",
        f"[THINK]a[/THINK]{PLAIN} <|end|>",
        f"a</think>{PLAIN}",
        f"x<|start|>assistant<|channel|>final<|message|>{PLAIN}<|return|>",
    ],
)
def test_thinking_is_never_judged(text: str) -> None:
    """Pairs of tags, a lone closing tag, channels and end tokens are taken away."""
    assert judge(text, BAN).findings == ()


def test_the_first_block_counts() -> None:
    """The first fence opens a block and the next one closes it."""
    block = find_code_block("a\n```Json x\n1\n```py\n2\n```\nb")
    assert block is not None
    assert (block.language, block.content) == ("json", "1")
    assert (block.before, block.after, block.fences) == ("a", "b", 3)
    assert find_code_block("a ``` b") is None


_BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
_MERGES = "- &a {k: 1}\n" + "".join(
    f"- &{name}\n  <<: [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "wanted", "failure"),
    [
        (_BOMB, YAML, Failure.YAML_ALIASES),
        (_MERGES, YAML, Failure.YAML_ALIASES),
        ("&a\n- *a", YAML, Failure.YAML_ALIASES),
        ("- !!python/object/apply:os.system ['false']", YAML, Failure.YAML_TAG),
        ("- id: !!python/name:os.system", YAML, Failure.YAML_TAG),
        ("- !mine\n  id: 1", YAML, Failure.YAML_TAG),
        ("- id: 1\n  t: !!binary aGk=", YAML, Failure.YAML_TAG),
        ("- id: !!int x", YAML, Failure.INVALID_YAML),
        ("- id: 1\n  t: \ud800", YAML, Failure.INVALID_YAML),
        ("- id: 1\n  t: \x07", YAML, Failure.INVALID_YAML),
        (f"- id: {'7' * 5000}", YAML, Failure.NUMBER_TOO_LONG),
        (f"- id: {'1:' * 400_000}1", YAML, Failure.NUMBER_TOO_LONG),
        (f"- id: {'1:' * 400}1.5", YAML, Failure.INVALID_YAML),
        (f'[{{"id": {"7" * 5000}}}]', JSON, Failure.NUMBER_TOO_LONG),
        ("[" * 10_000, JSON, Failure.TOO_DEEP),
        ("[" * 10_000 + "]" * 10_000, JSON, Failure.TOO_DEEP),
        ("[" * 300 + "]" * 300, JSON, Failure.TOO_DEEP),
        ("[" * 10_000, YAML, Failure.TOO_DEEP),
        ("- " * 10_000, YAML, Failure.TOO_DEEP),
        ("[" + "1," * 5_000_000 + "1]", JSON, Failure.TOO_LARGE),
        ("- x\n" * 2_500_000, YAML, Failure.TOO_LARGE),
    ],
)
def test_hostile_answers_have_a_class(
    text: str, wanted: Requirements, failure: Failure
) -> None:
    """Nothing is executed, nothing grows without bound, and each has its class."""
    assert failures_of(text, wanted, RuleReading.RECOMMENDED)[0] is failure


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 140_000,
        "</think>" * 120_000,
        "```\n" * 240_000,
        "[" * 990_000,
        '{"a":' * 190_000,
        "{" * 990_000,
        "- " * 490_000,
        "? " * 490_000,
        "a: " * 300_000,
        "&a " * 300_000,
        "'" * 990_000,
        "a:\n" * 300_000,
        "\t" * 990_000,
        "- x: 1\n" * 140_000,
        "#" * 990_000,
        "<<: " * 240_000,
        "---\n" * 240_000,
        "!" * 990_000,
    ],
)
@pytest.mark.parametrize("wanted", [BAN, replace(YAML, commentary=False)])
@pytest.mark.slow
def test_nothing_hangs(text: str, wanted: Requirements) -> None:
    """The longest answers of one repeated piece are read to their end, and fail."""
    assert not judge(text, wanted).passed(RuleReading.PUBLISHED)


@settings(max_examples=20)
@given(st.text(max_size=200))
def test_any_text_has_a_verdict(text: str) -> None:
    """Whatever a model writes, the verifier says something, in both formats."""
    for wanted in (BAN, YAML):
        verdict = judge(text, wanted)
        assert verdict.passed(RuleReading.BOTH) == (not verdict.findings)
