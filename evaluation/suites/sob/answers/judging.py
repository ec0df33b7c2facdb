"""The verdict on one response to one record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from curation.json.pointer import pointer
from evaluation.core.suite_records import Verdict
from evaluation.suites.sob.answers.parsing import (
    ParsedAnswer,
    parse_leniently,
    parse_strictly,
)
from evaluation.suites.sob.leaderboard.weights import weight_of
from evaluation.suites.sob.metrics.leaves import (
    Path,
    all_leaves,
    pointer_of,
    wildcarded,
)
from evaluation.suites.sob.metrics.names import SEVEN, Metric
from evaluation.suites.sob.metrics.scores import (
    Expectation,
    RecordScores,
    nothing_scored,
    score_answer,
)
from evaluation.suites.sob.mistakes.classes import Mistake
from evaluation.suites.sob.mistakes.leaf_mistakes import (
    LeafMistake,
    leaf_mistakes,
    mistake_of,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteResponse
    from evaluation.suites.sob.metrics.rules import ScoringRules
    from evaluation.suites.sob.record import SobRecord

#: Before the name of a figure that is not the benchmark's own.
LENIENT: Final = "lenient_"
# Wrong leaves that a verdict names, and that its details keep.
_NAMED, _KEPT = 3, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRecord:
    """A record ready to judge answers: its schema is compiled once."""

    record: SobRecord
    expected: Expectation
    #: Why the record itself is doubtful; empty where all is well.
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, record: SobRecord, rules: ScoringRules) -> PreparedRecord:
        """Compile a record."""
        expected = Expectation.of(
            record.ground_truth, record.json_schema, record.source, rules
        )
        return cls(
            record=record,
            expected=expected,
            doubts=_doubts(expected),
        )


def _doubts(expected: Expectation) -> tuple[str, ...]:
    """Return what is wrong with a record, in the words of the table of data quality."""
    found = []
    if expected.target.unusable:
        found.append("unusable_schema")
    elif expected.target.refusal(expected.truth) is not None:
        found.append("invalid_truth")
    if not expected.compared:
        found.append("no_leaves")
    return tuple(found)


def judge(prepared: PreparedRecord, response: SuiteResponse) -> Verdict:
    """Return the verdict on one response; it depends on nothing else."""
    rules = prepared.expected.rules
    if response.text is None:
        error = response.error or "the model gave no answer"
        return _verdict(prepared, nothing_scored(), Mistake.NO_ANSWER, (error,))
    strict = parse_strictly(response.text, rules)
    if strict.value is None:
        reasons = (f"not parsed: {strict.problem}",)
        verdict = _verdict(prepared, nothing_scored(), Mistake.PARSE, reasons)
    else:
        verdict = _judged(prepared, strict)
    return _with_lenient(verdict, prepared, response.text, strict)


def _judged(prepared: PreparedRecord, candidate: ParsedAnswer) -> Verdict:
    expected = prepared.expected
    leaves = all_leaves(candidate.value)
    scores = score_answer(candidate.value, expected, leaves)
    wrong = leaf_mistakes(expected.leaves, leaves, expected.rules)
    unusable = bool(expected.target.unusable)
    mistake = mistake_of(scores, wrong, unusable=unusable)
    return _verdict(
        prepared, scores, mistake, _reasons(scores, wrong, candidate), wrong
    )


def _reasons(
    scores: RecordScores, wrong: list[LeafMistake], candidate: ParsedAnswer
) -> tuple[str, ...]:
    reasons = [f"refused by the schema: {scores.refusal}"] if scores.refusal else []
    gravest = sorted(wrong, key=lambda leaf: list(Mistake).index(leaf.mistake))
    reasons += [
        f"{leaf.mistake} at {pointer_of(leaf.path)}" for leaf in gravest[:_NAMED]
    ]
    if len(gravest) > _NAMED:
        reasons.append(f"{len(gravest) - _NAMED} more wrong leaves")
    if candidate.duplicates:
        names = ", ".join(candidate.duplicates[:_NAMED])
        reasons.append(f"keys that stand twice, of which the last counts: {names}")
    return tuple(reasons)


def _verdict(
    prepared: PreparedRecord,
    scores: RecordScores,
    mistake: Mistake | None,
    reasons: tuple[str, ...],
    wrong: list[LeafMistake] | None = None,
) -> Verdict:
    """Return a verdict with what reports slice by.

    Args:
        prepared: The record.
        scores: Every metric.
        mistake: The class of the answer; None if it is right.
        reasons: In words.
        wrong: The wrong leaves; None where the answer has no leaves at all.
    """
    record = prepared.record
    expected = prepared.expected
    return Verdict(
        passed=mistake is None,
        failure_class=mistake or "",
        reasons=reasons,
        scores={str(metric): value for metric, value in scores.values.items()},
        details={
            "source": record.source,
            "complexity": record.schema_complexity,
            "difficulty": record.question_difficulty,
            "family": record.family,
            "weight": weight_of(record.schema_complexity, record.question_difficulty),
            "leaves": len(expected.leaves),
            "depth": max(map(len, expected.leaves), default=0),
            "doubts": [*prepared.doubts],
            "wrong": _wrong_leaves(wrong),
            "by_depth": _by_depth(wrong, expected.leaves),
        },
    )


def _wrong_leaves(wrong: list[LeafMistake] | None) -> dict[str, Json]:
    """Return wrong leaves by class: how many, and the places of the first ones."""
    if wrong is None:
        return {}
    places: dict[str, list[Path]] = {}
    for leaf in wrong:
        places.setdefault(leaf.mistake, []).append(leaf.path)
    return {
        mistake: {
            "count": len(paths),
            "places": [pointer(wildcarded(path)) for path in paths[:_KEPT]],
        }
        for mistake, paths in places.items()
    }


def _by_depth(
    wrong: list[LeafMistake] | None, truth: dict[Path, Json]
) -> dict[str, Json]:
    """Return how many leaves of the truth stand at each depth, and are right."""
    lost = {leaf.path for leaf in wrong} if wrong is not None else set(truth)
    found: dict[str, Json] = {}
    of = Counter(map(len, truth))
    wrongly = Counter(len(path) for path in lost & truth.keys())
    for depth in sorted(of):
        found[str(depth)] = [of[depth] - wrongly[depth], of[depth]]
    return found


def _with_lenient(
    verdict: Verdict, prepared: PreparedRecord, text: str, strict: ParsedAnswer
) -> Verdict:
    """Add the seven metrics of the text read leniently."""
    scores = verdict.scores
    if strict.value is None:
        candidate = parse_leniently(text, prepared.expected.rules)
        found = score_answer(candidate.value, prepared.expected).values
        scores = {str(metric): value for metric, value in found.items()}
    lenient = (Metric.JSON_PARSE, *SEVEN)
    added = {f"{LENIENT}{metric}": scores[metric] for metric in lenient}
    return replace(verdict, scores={**verdict.scores, **added})
