"""Hardening and the coverage gate (the paper's section 4.2 and appendix C.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.suites.sob.metrics.rules import ScoringRules


def f1(common: int, one: int, other: int) -> float:
    """Return the F1 of two sets by the sizes of them and of what they share."""
    # 2 * P * R / (P + R) with P = common / one and R = common / other.
    return 2 * common / (one + other) if common else 0.0


def coverage_gate(coverage: float, source: str, rules: ScoringRules) -> float:
    """Return what the values of an answer are multiplied by, from 0 to 1.

    Args:
        coverage: Structure Coverage before hardening.
        source: Text has a hard gate; every other source a soft one.
        rules: Holds the floors.
    """
    if source == "text":
        return 1.0 if coverage >= rules.text_floor else 0.0
    return min(1.0, (coverage / rules.soft_floor) ** 2)
