"""What must not harm the verifier: bombs, tags, depth, length, any text at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.judged import BAN, JSON, YAML, failures_of, judge

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import Requirements


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
