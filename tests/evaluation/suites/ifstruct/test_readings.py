"""Where the two readings of the rules differ, and what options change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.suites.ifstruct.rows import AnswerFormat, Fence
from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.judged import (
    BAN,
    BLOCK,
    JSON,
    PLAIN,
    YAML,
    failures_of,
)


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
