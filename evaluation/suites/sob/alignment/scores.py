"""Value Accuracy and Faithfulness with the arrays aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.sob.alignment.arrays import Alignment, aligned_leaves
from evaluation.suites.sob.metrics.leaves import compared_leaves
from evaluation.suites.sob.metrics.scores import gated_values

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.names import Metric
    from evaluation.suites.sob.metrics.scores import Expectation, RecordScores


def aligned_values(
    answer: Json, expected: Expectation, strict: RecordScores, how: Alignment
) -> dict[Metric, float]:
    """Return Value Accuracy and Faithfulness, hardened and gated as the strict ones.

    The gate is that of the coverage under the same alignment.

    Args:
        answer: The parsed answer.
        expected: The record's truth and schema.
        strict: The scores of the answer, index by index.
        how: What pairs two items.
    """
    leaves = aligned_leaves(expected.truth, answer, how, expected.rules)
    compared = compared_leaves(leaves, expected.rules)
    return gated_values(expected, compared, strict.hardening)
