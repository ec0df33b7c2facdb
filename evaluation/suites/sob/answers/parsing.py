"""A response's text as JSON: strictly, as the benchmark counts, and leniently.

Strictly the text is one JSON value and nothing else. Leniently thinking, a fence and
text around the braces are taken away first; figures of that are reported apart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.answers.json_answers import (
    MOST_CHARACTERS,
    MOST_LEVELS,
    JsonAnswer,
    JsonProblem,
    read_json_answer,
)
from evaluation.answers.policies import outer_braces, outer_fence
from evaluation.answers.thinking import split_thinking

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """What a response's text was parsed to."""

    #: An object or an array; None where there is none.
    value: dict[str, Json] | list[Json] | None
    #: Why there is none; empty where there is one.
    problem: str = ""
    #: Names that stand twice in one object; the last one counts.
    duplicates: tuple[str, ...] = ()


def parse_strictly(text: str, rules: ScoringRules) -> ParsedAnswer:
    """Return the candidate that the benchmark's metrics are of.

    Only an object or an array counts. A string that holds JSON is not parsed again.
    """
    answer = read_json_answer(text)
    if answer.problem is JsonProblem.NOT_A_NUMBER and not rules.strict_numbers:
        answer = _as_python_reads(text, answer)
    return _candidate(answer)


def parse_leniently(text: str, rules: ScoringRules) -> ParsedAnswer:
    """Return the candidate of a text with thinking, fence or words around it."""
    rest = split_thinking(text).answer
    found = _candidate(read_json_answer(rest))
    for policy in (outer_fence, outer_braces):
        if found.value is not None:
            return found
        part = policy(rest)
        rest = rest if part.text is None else part.text
        found = parse_strictly(rest, rules)
    if found.value is None:
        inner = read_json_answer(text).value
        if isinstance(inner, str):
            return parse_strictly(inner, rules)
    return found


def _candidate(answer: JsonAnswer) -> ParsedAnswer:
    if answer.problem is not None:
        return ParsedAnswer(value=None, problem=answer.detail or str(answer.problem))
    if not isinstance(answer.value, dict | list):
        kind = "null" if answer.value is None else type(answer.value).__name__
        problem = f"the root is a {kind}, no object or array"
        return ParsedAnswer(value=None, problem=problem)
    return ParsedAnswer(value=answer.value, duplicates=answer.duplicates)


def _as_python_reads(text: str, refused: JsonAnswer) -> JsonAnswer:
    """Return what Python's parser makes of NaN and infinities, as the authors' did."""
    if len(text) > MOST_CHARACTERS or text.count("{") + text.count("[") > MOST_LEVELS:
        return refused
    try:
        return JsonAnswer(value=json.loads(text))
    except ValueError:
        return refused
