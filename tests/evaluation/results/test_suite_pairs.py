"""Sides of a suite's run are paired with the free side of their model."""

from __future__ import annotations

from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse
from evaluation.results.suite_pairs import pairs_with_free


def _side(model: str, condition: str) -> tuple[str, list[ScoredResponse]]:
    response = ScoredResponse(
        record="r",
        group="",
        repeat=0,
        model=model,
        condition=condition,
        verdicts=(Verdict(passed=True),),
    )
    return response.label, [response]


def test_each_constrained_side_is_paired_with_the_free_one_of_its_model() -> None:
    """A model without a free side is in no pair, and neither is an empty side."""
    sides = dict([_side("a", "E"), _side("b", "E"), _side("a", "free"), ("x", [])])
    assert pairs_with_free(sides) == [("a free", "a E")]
