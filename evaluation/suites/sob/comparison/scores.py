"""Value Accuracy with every field compared as it is annotated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.json.pointer import tokens_of
from evaluation.suites.sob.alignment.arrays import Alignment, Place, aligned_leaves
from evaluation.suites.sob.comparison.comparators import (
    COMPARATORS,
    ORDER_COUNTS,
    Comparator,
    comparison_named,
    exact,
)
from evaluation.suites.sob.metrics.leaves import all_leaves, wildcarded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.scores import Expectation, RecordScores


@dataclass(frozen=True, slots=True)
class FieldComparisons:
    """The comparisons of one record, by place."""

    leaves: Mapping[Place, tuple[Comparator, float]]
    #: Arrays in which the order of items does not count.
    sets: frozenset[Place]

    @classmethod
    def of(cls, named: Mapping[str, str]) -> FieldComparisons:
        """Read comparisons by JSON pointers with `*` for every index.

        Raises:
            BadData: one of them is not known.
        """
        leaves: dict[Place, tuple[Comparator, float]] = {}
        sets: set[Place] = set()
        for where, text in named.items():
            name, parameter = comparison_named(text)
            if name in COMPARATORS:
                leaves[tokens_of(where)] = COMPARATORS[name], parameter
            elif not ORDER_COUNTS[name]:
                sets.add(tokens_of(where))
        return cls(leaves, frozenset(sets))


def annotated_accuracy(
    answer: Json,
    expected: Expectation,
    strict: RecordScores,
    comparisons: FieldComparisons,
    *,
    in_order: bool = False,
) -> float:
    """Return the share of the truth's leaves that are met as they are annotated.

    Hardened and gated as Value Accuracy is. A field without annotation is compared
    exactly, an array index by index.

    Args:
        answer: The parsed answer.
        expected: The record's truth and schema.
        strict: The scores of the answer, every field compared exactly.
        comparisons: How fields are compared.
        in_order: Whether it is known that every item is right where it stands.
    """
    factor = strict.hardening * strict.gate
    if not factor or not expected.compared:
        return 0.0
    found = all_leaves(answer)
    if comparisons.sets and not in_order:
        found = aligned_leaves(
            expected.truth,
            answer,
            Alignment.ASSIGNMENT,
            expected.rules,
            comparisons.sets,
        )
    met = 0
    counted = (
        (path, value)
        for path, value in expected.leaves.items()
        if expected.rules.empty_leaves or not isinstance(value, dict | list)
    )
    of = 0
    for path, value in counted:
        of += 1
        if path in found:
            compare, parameter = comparisons.leaves.get(wildcarded(path), (exact, 0.0))
            met += compare(value, found[path], parameter)
    return factor * met / of
