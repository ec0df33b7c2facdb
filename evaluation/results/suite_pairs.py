"""Compare models and conditions on the records that both answered.

Intervals and tests take clusters (`ScoredResponse.cluster`) for independent, and
nothing else (`evaluation.reporting.statistics`).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from evaluation.core.records import is_free
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.statistics import holm, sign_flip
from evaluation.reporting.tables import Cell, Rate, Shift, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse

    #: The cluster of a case, and whether it is good for side a, and for side b.
    GoodCase: TypeAlias = tuple[Hashable, bool, bool]

_T = TypeVar("_T")
_K = TypeVar("_K")
_NOTE = (
    "Answers that both have and that count. difference: b - a, with a 95 % interval by "
    "bootstrap over clusters (schemas, kinds; otherwise records). p: exact, "
    "two-sided, over the signs of the clusters' differences; with one answer each it "
    "is McNemar's test. p adjusted: Holm's, for all lines of the table."
)


class PairedSides(NamedTuple):
    """Two sides, a model under a condition each, with what both answered."""

    a: str
    b: str
    #: Answers of a and b to the same record and repeat, in the order of a.
    answers: Sequence[tuple[ScoredResponse, ScoredResponse]]

    def by_cluster(
        self, fact: Callable[[ScoredResponse], _T]
    ) -> list[tuple[Hashable, _T, _T]]:
        """Return the cluster of each pair of answers, with a fact about both."""
        return [(a.cluster, fact(a), fact(b)) for a, b in self.answers]


def is_passed(scored: ScoredResponse) -> bool:
    """Return whether an answer passes."""
    return scored.verdict.passed


def matched(a: Mapping[_K, _T], b: Mapping[_K, _T]) -> list[tuple[_T, _T]]:
    """Return what both sides have under one key, in the order of a."""
    return [(answer, b[key]) for key, answer in a.items() if key in b]


def pair_sides(
    sides: Mapping[str, Sequence[ScoredResponse]],
    labels: Iterable[tuple[str, str]] | None = None,
) -> list[PairedSides]:
    """Return pairs of sides with the answers that both have and that count.

    Args:
        sides: The answers of each side.
        labels: Which pairs; None for every side with every other, in their order.
    """
    counted = {
        label: {
            (scored.record, scored.repeat): scored
            for scored in responses
            if scored.verdict.counted
        }
        for label, responses in sides.items()
    }
    return [
        PairedSides(a, b, matched(counted[a], counted[b]))
        for a, b in (combinations(sides, 2) if labels is None else labels)
    ]


def pairs_with_free(
    sides: Mapping[str, Sequence[ScoredResponse]],
) -> list[tuple[str, str]]:
    """Return the labels of each model's free side and of each of its other sides.

    Constrained sides are paired with the free one at their level of reasoning; other
    levels of the free one are paired with the first.
    """
    answer_by_label = {label: answers[0] for label, answers in sides.items() if answers}
    free: dict[tuple[str, str], str] = {}
    for label, answer in answer_by_label.items():
        if is_free(answer.condition):
            free.setdefault((answer.model, ""), label)
            free[answer.model, answer.condition.partition("@")[2]] = label
    pairs = []
    for label, answer in answer_by_label.items():
        level = "" if is_free(answer.condition) else answer.condition.partition("@")[2]
        free_label = free.get((answer.model, level))
        if free_label not in {None, label}:
            pairs.append((str(free_label), label))
    return pairs


def paired_rates(
    pairs: Sequence[PairedSides],
    title: str = "What passes, paired",
    name: str = "paired",
) -> Table:
    """Return how often each of two sides passes where the other does not.

    Args:
        pairs: What is compared, one line each.
        title: The table's title.
        name: The table's name for programs.
    """
    cases = [(pair.a, pair.b, pair.by_cluster(is_passed)) for pair in pairs]
    return shares_table(title, "passes", cases, _NOTE, name)


def shares_table(
    title: str,
    verb: str,
    pairs: Sequence[tuple[str, str, Sequence[GoodCase]]],
    note: str,
    name: str = "",
) -> Table:
    """Return both shares of each pair, what only one has, and the test of it.

    Args:
        title: The table's title.
        verb: What a good case does: `passes`.
        pairs: Two sides and their cases, one line each; p are adjusted together.
        note: The table's note.
        name: The table's name for programs.
    """
    ps = {line: paired_p(cases) for line, (_, _, cases) in enumerate(pairs) if cases}
    # One test leaves nothing to adjust.
    adjusted = holm(ps) if len(ps) > 1 else {}
    rows: list[tuple[Cell, ...]] = []
    for line, (a, b, cases) in enumerate(pairs):
        rates = (
            Rate.of_answers((cluster, good) for cluster, good, _ in cases),
            Rate.of_answers((cluster, good) for cluster, _, good in cases),
        )
        counts = Counter(case[1:] for case in cases)
        only = (counts[True, False], counts[False, True])
        difference = Shift.of(mean_difference(cases))
        rows.append((a, b, *rates, *only, difference, ps.get(line), adjusted.get(line)))
    shares = (f"a {verb}", f"b {verb}", "only a", "only b", "difference")
    return Table(
        title=title,
        columns=("a", "b", *shares, "p", "p adjusted"),
        rows=tuple(rows),
        note=note,
        name=name,
    ).without_empty_columns("p adjusted")


def paired_p(cases: Iterable[GoodCase]) -> float:
    """Return the exact p of both sides being alike, by how clusters differ."""
    differences: dict[Hashable, int] = {}
    for cluster, score_a, score_b in cases:
        differences[cluster] = differences.get(cluster, 0) + score_b - score_a
    return sign_flip(differences.values())


def changes_table(
    title: str,
    pairs: Iterable[tuple[str, str, Sequence[tuple[Hashable, str, str]]]],
    of: str,
    name: str = "",
) -> Table:
    """Return how often which outcome of a is which other outcome of b.

    Args:
        title: The table's title.
        pairs: Two sides, and of each case that both have its cluster and its outcomes.
        of: What the cases are called.
        name: The table's name for programs.
    """
    rows: list[tuple[Cell, ...]] = []
    for a, b, outcomes in pairs:
        moved = Counter((was, now) for _, was, now in outcomes if was != now)
        for change in sorted(moved, key=lambda change: (-moved[change], change)):
            answers = [(case[0], case[1:] == change) for case in outcomes]
            rows.append((a, b, *change, Rate.of_answers(answers)))
    return Table(
        title=title, columns=("a", "b", "of a", "of b", of), rows=tuple(rows), name=name
    )


def changed_classes(pairs: Sequence[PairedSides]) -> Table:
    """Return how often which class of a is which other class of b."""
    return changes_table(
        "Other classes on the same record",
        [
            (
                pair.a,
                pair.b,
                pair.by_cluster(lambda side: side.verdict.failure_class or "passed"),
            )
            for pair in pairs
        ],
        "answers",
        "changed-classes",
    )
