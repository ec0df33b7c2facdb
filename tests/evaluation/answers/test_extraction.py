"""The policies that take an answer out of a text, each with its golden vectors."""

from __future__ import annotations

import pytest

from evaluation.answers.extraction import POLICIES

#: Policy, text, what is taken out, what is wrong.
VECTORS = [
    ("raw", ' {"a": 1}\n', '{"a": 1}', ""),
    ("raw", "```json\n{}\n```", "```json\n{}\n```", ""),
    ("outer_fence", '{"a": "```"}', '{"a": "```"}', ""),
    ("outer_fence", '```json\n{"a": 1}\n```', '{"a": 1}', ""),
    ("outer_fence", "```\n[1]\n```  ", "[1]", ""),
    ("outer_fence", '```json\n{"a": "```x"}\n```', '{"a": "```x"}', ""),
    ("outer_fence", '```json\n{"a": 1}', '{"a": 1}', "unclosed_fence"),
    ("outer_fence", '```{"a": 1}```', '{"a": 1}', ""),
    ("outer_fence", '```json {"a": 1} ```', '{"a": 1}', ""),
    ("outer_fence", '```json{"a":1}```', '{"a":1}', ""),
    ("outer_fence", "```[1]```", "[1]", ""),
    ("outer_fence", '```"a b"```', '"a b"', ""),
    ("outer_fence", "```true```", "true", ""),
    ("outer_fence", "Here:\n```json\n{}\n```", "Here:\n```json\n{}\n```", ""),
    ("strict_fence", '[{"id": 1}]', '[{"id": 1}]', ""),
    ("strict_fence", 'Here:\n```json\n[{"id": 1}]\n```', '[{"id": 1}]', ""),
    ("strict_fence", '```json\n["```"]\n```', '["```"]', ""),
    ("strict_fence", "```json\n[1]", None, "unclosed_fence"),
    ("strict_fence", "```\n[1]\n```\nor\n```\n[2]\n```", "[1]", ""),
    ("first_fence", "```json\n{}\n``` and ```[]```", "{}", ""),
    ("first_fence", "```[1]```", "[1]", ""),
    ("first_fence", "```.json\n{}\n```", "{}", ""),
    ("first_fence", "{}", None, "no_fence"),
    ("first_fence", "```json\n{}", None, "unclosed_fence"),
    ("strip_all_backticks", '```json\n{"a": "```"}\n```', '{"a": ""}', ""),
    ("strip_all_backticks", '{"a": "```"}', '{"a": "```"}', ""),
    ("outer_braces", 'Sure: {"a": {}} - done', '{"a": {}}', ""),
    ("outer_braces", "[1, {}] ok", "[1, {}]", ""),
    ("outer_braces", 'Here {"a": 1', '{"a": 1', ""),
    ("outer_braces", "nothing", None, "no_braces"),
]


@pytest.mark.parametrize(("policy", "text", "taken", "problem"), VECTORS)
def test_golden_vectors(
    policy: str, text: str, taken: str | None, problem: str
) -> None:
    """Each policy takes out exactly what its source would, and says what is wrong."""
    found = POLICIES[policy](text)
    assert (found.text, found.problem) == (taken, problem)


def test_a_fence_tells_its_language_and_what_stands_around_it() -> None:
    """Suites that ban commentary or want a language look at these."""
    found = POLICIES["strict_fence"]("Before\n```yaml\n- 1\n```\nafter")
    assert (found.fenced, found.language) == (True, "yaml")
    assert (found.before, found.after) == ("Before", "after")
