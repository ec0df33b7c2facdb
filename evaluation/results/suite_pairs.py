"""Compare models and conditions on the records that both answered.

Answers to one record are a cluster: intervals and tests take records for independent,
and nothing else (`evaluation.reporting.statistics`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evaluation.core.suite_records import FREE
from evaluation.reporting.bootstrap import geometric_ratio, mean_difference
from evaluation.reporting.statistics import holm, sign_flip
from evaluation.reporting.tables import Cell, Rate, Ratio, Shift, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse

_NOTE = (
    "Answers that both have and that count. difference: b - a, with a 95 % interval by "
    "bootstrap over records. p: exact, two-sided, over the signs of the records' "
    "differences; with one answer a record it is McNemar's test. adjusted: Holm's, for "
    "all lines of the table."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSides:
    """Two sides, a model under a condition each, with what both answered."""

    a: str
    b: str
    #: Answers of a and b to the same record and repeat, in the order of a.
    answers: Sequence[tuple[ScoredResponse, ScoredResponse]]


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
        PairedSides(
            a=a,
            b=b,
            answers=[
                (answer, counted[b][key])
                for key, answer in counted[a].items()
                if key in counted[b]
            ],
        )
        for a, b in labels or combinations(sides, 2)
    ]


def pairs_with_free(
    sides: Mapping[str, Sequence[ScoredResponse]],
) -> list[tuple[str, str]]:
    """Return the labels of each model's free side and of each constrained side."""
    first = {label: answers[0] for label, answers in sides.items() if answers}
    free = {
        answer.model: label
        for label, answer in first.items()
        if answer.condition == FREE
    }
    return [
        (free[answer.model], label)
        for label, answer in first.items()
        if answer.condition != FREE and answer.model in free
    ]


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
    ps = {
        place: sign_flip(_record_differences(pair).values())
        for place, pair in enumerate(pairs)
        if pair.answers
    }
    adjusted = holm(ps)
    rows: list[tuple[Cell, ...]] = []
    for place, pair in enumerate(pairs):
        counts = Counter((a.verdict.passed, b.verdict.passed) for a, b in pair.answers)
        only_a, only_b = counts[True, False], counts[False, True]
        both, of = counts[True, True], counts.total()
        rows.append(
            (
                pair.a,
                pair.b,
                Rate(both + only_a, of),
                Rate(both + only_b, of),
                only_a,
                only_b,
                _difference(pair),
                ps.get(place),
                adjusted.get(place),
            )
        )
    return Table(
        title=title,
        columns=(
            "a",
            "b",
            "a passes",
            "b passes",
            "only a",
            "only b",
            "difference",
            "p",
            "p adjusted",
        ),
        rows=tuple(rows),
        note=_NOTE,
        name=name,
    )


def _record_differences(pair: PairedSides) -> dict[str, int]:
    """Return of each record how many more answers of b pass than of a."""
    differences: dict[str, int] = {}
    for a, b in pair.answers:
        more = int(b.verdict.passed) - int(a.verdict.passed)
        differences[a.record] = differences.get(a.record, 0) + more
    return differences


def _difference(pair: PairedSides) -> Cell:
    mean = mean_difference(
        [float(a.verdict.passed) for a, _ in pair.answers],
        [float(b.verdict.passed) for _, b in pair.answers],
        [a.record for a, _ in pair.answers],
    )
    if mean is None:
        return None
    # Resampling pairs that all agree would give an interval without width.
    differ = any(_record_differences(pair).values())
    return Shift(mean.value, mean.interval if differ else None)


def time_ratios(pairs: Sequence[PairedSides]) -> list[Ratio | None]:
    """Return how many times as long as a b takes for an answer; None if unknown."""
    ratios = []
    for pair in pairs:
        timed = [
            (a.seconds, b.seconds, a.record)
            for a, b in pair.answers
            if a.seconds is not None and b.seconds is not None
        ]
        ratio = geometric_ratio(
            [a for a, _, _ in timed],
            [b for _, b, _ in timed],
            [record for _, _, record in timed],
        )
        ratios.append(None if ratio is None else Ratio(ratio.value, ratio.interval))
    return ratios


def paired_times(pairs: Sequence[PairedSides]) -> Table:
    """Return how the times of an answer compare; empty where none is known."""
    ratios = time_ratios(pairs)
    rows: list[tuple[Cell, ...]] = [
        (pair.a, pair.b, len(pair.answers), ratio)
        for pair, ratio in zip(pairs, ratios, strict=True)
        if ratio is not None
    ]
    return Table(
        title="Time of an answer, paired",
        columns=("a", "b", "answers", "b / a"),
        rows=tuple(rows),
        note="Geometric mean of b / a, with a 95 % interval by bootstrap over records: "
        "below 1 b is faster.",
        name="paired-times",
    )


def changed_classes(pairs: Sequence[PairedSides]) -> Table:
    """Return how often which class of a is which other class of b."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        moved = Counter(
            (_class(a), _class(b)) for a, b in pair.answers if _class(a) != _class(b)
        )
        rows += [
            (pair.a, pair.b, before, after, Rate(count, len(pair.answers)))
            for (before, after), count in sorted(
                moved.items(), key=lambda change: (-change[1], change[0])
            )
        ]
    return Table(
        title="Other classes on the same record",
        columns=("a", "b", "of a", "of b", "answers"),
        rows=tuple(rows),
        name="changed-classes",
    )


def _class(scored: ScoredResponse) -> str:
    return scored.verdict.failure_class or "passed"
