"""Fuzzed answers: no scorer raises, and the published readings are the published ones.

What the readers disagree about stands in `_KNOWN`, by suite and reason: a line may go
from it, and none may come unseen.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from evaluation.asking.request import choose_suite
from evaluation.core.records import Response
from evaluation.suites.ifstruct.rows import read_record
from evaluation.suites.registry import suites
from evaluation.suites.sob.metrics import PUBLISHED
from evaluation.suites.sob.records import sob_record
from evaluation.suites.sob.scorer import parse_strictly
from tests.evaluation.suites.envelopes import ENVELOPES, right_answers
from tests.evaluation.suites.second_readers import (
    ifstruct_passes,
    passrate_passes,
    sob_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.records import Record, Verdict

#: Pieces that break readers.
_PIECES: Final = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-0", "1.0", "0.5", "true", "null"),
    *('"\\ud800"', "\ud800", "\x00", "\ufeff", "\r", "\u2028", "\x85", "\x1c", "\\"),
    *("[" * 300, "{" * 20, "]" * 300, "9" * 5_000, "```", "```json\n", "\n```\n"),
    *("<think>", "</think>", "[THINK]", "<|end|>", "</s>", "assistantfinal"),
    *("- ", ": ", "&a ", "*a", "!!set ", "? ", "<<: ", "#", "\t", ",", '"', "{}", "[]"),
)


def _broken(text: str, draw: Random) -> str:
    """Return a text with one to three small faults, or in an envelope."""
    if draw.random() < 0.3:
        text = draw.choice(ENVELOPES).around(text, draw.choice(("json", "yaml", "")))
    for _ in range(draw.randint(0, 3)):
        place, end = sorted(draw.randint(0, len(text)) for _ in range(2))
        match draw.randrange(4):
            case 0:
                text = text[:place] + draw.choice(_PIECES) + text[place:]
            case 1:
                text = text[:place] + draw.choice(_PIECES) + text[place + 1 :]
            case 2:
                text = text[:place] + text[min(end, place + 5) :]
            case _:
                text = _other_value(text, draw)
    return text


def _other_value(text: str, draw: Random) -> str:
    """Return JSON with one leaf replaced, where it is any."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    places: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        inner = stack.pop()
        if not isinstance(inner, dict | list):
            continue
        items = inner.items() if isinstance(inner, dict) else enumerate(inner)
        for key, member in items:
            places.append((inner, key))
            stack.append(member)
    if places:
        holder, key = draw.choice(places)
        other: tuple[Any, ...] = (None, True, 1, 1.0, "1", float("nan"), [], {"a.b": 1})
        holder[key] = draw.choice(
            (*other, float("inf"), [float("nan"), {"": "x"}], "a")
        )
    return json.dumps(value)


def _fuzzed(suite: str, count: int) -> Iterator[tuple[Record, str]]:
    answers = right_answers(suite, 40)
    for seed in range(count):
        draw = Random(f"{suite} {seed}")
        answer = answers[seed % len(answers)]
        yield answer.record, _broken(draw.choice((answer.text, answer.content)), draw)


@pytest.mark.parametrize("reading", ["", "@paper"])
@pytest.mark.parametrize("suite", list(suites()))
@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_a_scorer_never_raises(suite: str, reading: str, count: int) -> None:
    """Whatever a model wrote gets a verdict with a class of the suite, or passes."""
    if reading and choose_suite(suite, {}).suite.paper is None:
        pytest.skip("it has one reading")
    choice = choose_suite(suite, {}, "paper" if reading else "")
    score = choice.suite.scorer(choice.settings)
    judges: dict[str, Any] = {}
    for record, text in _fuzzed(suite, count):
        judge = judges.setdefault(record.key, score(record))
        verdict = judge(Response(record=record.key, text=text))
        assert verdict.failure_class in {"", *choice.suite.classes}, text
        assert verdict.passed == (verdict.failure_class == ""), text


#: Why a published verdict is another than ours: at most so many of a thousand answers.
_KNOWN: Final[dict[tuple[str, str], int]] = {
    # Half of a surrogate pair, and numbers that are none, are no JSON (RFC 8259).
    ("passrate", "passes True, syntax_error lone_surrogate"): 20,
    ("passrate", "passes True, syntax_error not_a_number"): 20,
}


@pytest.mark.parametrize(
    "count", [100, pytest.param(40_000, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("suite", ["ifstruct", "sob", "passrate"])
def test_the_published_reading_is_the_published_scorer(suite: str, count: int) -> None:
    """A second reader, written apart, decides alike but for the reasons listed."""
    choice = choose_suite(suite, {}, "paper")
    score = choice.suite.scorer(choice.settings)
    judges: dict[str, Any] = {}
    apart: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    raised = 0
    for record, text in _fuzzed(suite, count):
        judge = judges.setdefault(record.key, score(record))
        verdict = judge(Response(record=record.key, text=text))
        why = _apart(suite, record, text, verdict)
        if why is None:
            raised += 1
        elif why:
            apart[suite, why] += 1
            first.setdefault((suite, why), text)
    over = {
        key: n for key, n in apart.items() if n * 1_000 > count * _KNOWN.get(key, 0)
    }
    assert over == {}, {key: first[key] for key in over}
    assert raised < count / 20


def _apart(suite: str, record: Record, text: str, verdict: Verdict) -> str | None:
    """Return in a word what differs; empty for nothing, None if theirs would raise."""
    if suite == "ifstruct":
        passes = ifstruct_passes(text, read_record(record.fields).requirements)
        if passes is None or passes is verdict.passed:
            return None if passes is None else ""
        return f"passes {passes}, {verdict.failure_class}"
    if suite == "passrate":
        passes = passrate_passes(text, json.loads(record.schema or "true"))
        if passes is None or passes is verdict.passed:
            return None if passes is None else ""
        problem = verdict.details.get("problem", "")
        return f"passes {passes}, {verdict.failure_class} {problem}".strip()
    own = sob_record(record)
    answer = parse_strictly(text, PUBLISHED)
    theirs = sob_metrics(answer.value, own.ground_truth, own.json_schema, own.source)
    if theirs is None:
        return None
    names = [
        name
        for name, figure in theirs.items()
        if abs(figure - verdict.scores[name]) > 1e-9
    ]
    return " ".join(names)
