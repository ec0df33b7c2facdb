"""Which leaves of an answer are wrong, and in which way?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.json.values import is_number, type_of
from evaluation.suites.sob.metrics.equality import same_leaf
from evaluation.suites.sob.metrics.token_f1 import text_of_leaf
from evaluation.suites.sob.mistakes.classes import Mistake

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.leaves import Path
    from evaluation.suites.sob.metrics.rules import ScoringRules
    from evaluation.suites.sob.metrics.scores import RecordScores


@dataclass(frozen=True, slots=True)
class LeafMistake:
    """One wrong leaf."""

    path: Path
    mistake: Mistake


def leaf_mistakes(
    truth: dict[Path, Json], answer: dict[Path, Json], rules: ScoringRules
) -> list[LeafMistake]:
    """Return every wrong leaf, those of the truth first; none if both are the same.

    Empty objects and arrays count as leaves here whatever the metrics count, so that
    an answer is perfect if and only if it has no mistake.

    Args:
        truth: All leaves of the truth.
        answer: All leaves of the answer.
        rules: What makes two leaves the same.
    """
    found = [
        LeafMistake(path, mistake)
        for path, value in truth.items()
        if (mistake := _mistake(path, value, answer, rules)) is not None
    ]
    spurious = answer.keys() - truth.keys() if answer.keys() != truth.keys() else ()
    found += [
        LeafMistake(path, Mistake.SPURIOUS_PATH) for path in answer if path in spurious
    ]
    return found


def _mistake(
    path: Path, value: Json, answer: dict[Path, Json], rules: ScoringRules
) -> Mistake | None:
    if path not in answer:
        return Mistake.MISSING_PATH
    other = answer[path]
    if same_leaf(value, other, rules):
        return None
    if _same_but_for_type(value, other, rules):
        return Mistake.TYPE
    return Mistake.VALUE


def _same_but_for_type(value: Json, other: Json, rules: ScoringRules) -> bool:
    """Return whether two leaves of different types are written alike."""
    if isinstance(value, dict | list) or isinstance(other, dict | list):
        return False
    if type_of(value) == type_of(other) or (is_number(value) and is_number(other)):
        return False
    texts = (text_of_leaf(value, rules), text_of_leaf(other, rules))
    return texts[0].strip().lower() == texts[1].strip().lower()


def mistake_of(
    scores: RecordScores, leaves: list[LeafMistake], *, unusable: bool
) -> Mistake | None:
    """Return the gravest mistake of an answer that was parsed; None if it is right.

    Args:
        scores: The answer's scores.
        leaves: Its wrong leaves.
        unusable: Whether its record's schema can judge no answer.
    """
    if unusable:
        return Mistake.UNUSABLE_SCHEMA
    if not scores.hardening:
        return Mistake.SCHEMA
    kinds = {leaf.mistake for leaf in leaves}
    return next((mistake for mistake in Mistake if mistake in kinds), None)
