"""An answer is read as JSON, or it is said in one word why it cannot be judged."""

from __future__ import annotations

from time import process_time

import pytest

from evaluation.answers.json_answers import MOST_LEVELS, JsonProblem, read_json_answer


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
        ("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), JsonProblem.TOO_DEEP),
    ],
)
def test_what_is_no_json_says_why(text: str, problem: JsonProblem) -> None:
    """Nothing raises, whatever a model wrote."""
    assert read_json_answer(text).problem is problem


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
