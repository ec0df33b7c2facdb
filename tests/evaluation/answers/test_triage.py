"""Responses without an answer are told apart, by the rules of each suite."""

from __future__ import annotations

import pytest

from evaluation.answers.extraction import (
    MissingAnswer,
    NoAnswer,
    Refusals,
    TriageRules,
    outer_fence,
    triage,
)
from evaluation.core.records import Response


def kind_of(rules: TriageRules | None = None, **response: str | None) -> str:
    """Return the reason why a response has no answer, or its answer."""
    answer = triage(
        Response(record="a", **response),  # type: ignore[arg-type]  # fields by name
        rules or TriageRules(),
    )
    return str(answer.kind) if isinstance(answer, MissingAnswer) else answer


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"text": None, "error": "HTTP 500"}, NoAnswer.FAILED),
        ({"text": None}, NoAnswer.FAILED),
        ({"text": "[1]", "finish": "content_filter"}, NoAnswer.REFUSED),
        ({"text": " \n"}, NoAnswer.EMPTY),
        ({"text": "<think>Hm."}, NoAnswer.THINKING),
        ({"text": "", "reasoning": "Hm."}, NoAnswer.THINKING),
        ({"text": "<think>Hm.", "finish": "length"}, NoAnswer.TRUNCATED),
        ({"text": "[1", "finish": "length"}, "[1"),
        ({"text": "<think>Hm.</think> [1]"}, "[1]"),
        ({"text": "I'm sorry."}, "I'm sorry."),
    ],
)
def test_a_response_is_sorted_out_by_the_usual_rules(
    response: dict[str, str | None], expected: str
) -> None:
    """Failures, refusals, thinking without an answer, and answers."""
    assert kind_of(None, **response) == expected


def test_each_rule_of_a_suite_changes_one_thing() -> None:
    """Null texts, errors beside a text, refusals, thinking, length and policy."""
    assert kind_of(TriageRules(null_fails=False), text=None) == NoAnswer.EMPTY
    assert kind_of(TriageRules(), text="[1]", error="late") == NoAnswer.FAILED
    assert kind_of(TriageRules(error_fails=False), text="[1]", error="late") == "[1]"
    silent = TriageRules(refusals=Refusals.WITHOUT_TEXT)
    assert kind_of(silent, text="[1]", finish="refusal") == "[1]"
    assert kind_of(silent, text=" ", finish="refusal") == NoAnswer.REFUSED
    never = TriageRules(refusals=Refusals.NEVER)
    assert kind_of(never, text=" ", finish="refusal") == NoAnswer.EMPTY
    words = TriageRules(refusals=Refusals.BY_WORDS)
    assert kind_of(words, text="I'm sorry, I can't.") == NoAnswer.REFUSED
    for answer in ("I'm sorry: [1]", '"Sorry, we are closed."'):
        assert kind_of(words, text=answer) == answer
    whole = TriageRules(splits_thinking=False)
    assert kind_of(whole, text="<think>Hm.") == "<think>Hm."
    assert kind_of(TriageRules(longest=2), text="[1]") == NoAnswer.TOO_LARGE
    fenced = TriageRules(policy=outer_fence)
    assert kind_of(fenced, text="```json\n[1]\n```") == "[1]"
    assert kind_of(fenced, text="```json\n```") == NoAnswer.EMPTY
