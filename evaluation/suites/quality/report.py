"""Tables of a run: accuracy, and the effect of a constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import NOT_RUN, Cell, FixedFigure, Table
from evaluation.results.suite_pairs import pair_sides, paired_rates, pairs_with_free
from evaluation.results.suite_tables import pass_rates, passed
from evaluation.suites.quality.suite import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

#: The name of the table that has the form of the paper's Table 7.
PAPER_FORM: Final = "paper-table-7"
#: Its columns, in the order of `TASKS`.
_COLUMNS: Final = ("Last Letters (%)", "Shuffle Objects (%)", "GSM8K (%)")


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    sides = {
        f"{task}: {label}": [answer for answer in side if answer.group == task]
        for task in TASKS
        for label, side in run.by_label.items()
    }
    yield pass_rates(run)
    yield Table(
        title="Accuracy on the quality tasks",
        name=PAPER_FORM,
        columns=("model and condition", *_COLUMNS),
        rows=tuple(
            (label, *(_percent(sides[f"{task}: {label}"]) for task in TASKS))
            for label in run.by_label
        ),
        note="The form of Table 7 of arXiv 2501.10868, reasoning first.",
    )
    pairs = [
        (f"{task}: {free}", f"{task}: {condition}")
        for task in TASKS
        for free, condition in pairs_with_free(run.by_label)
    ]
    constrained = [pair for pair in pair_sides(sides, pairs) if sides[pair.b]]
    yield paired_rates(constrained, "Constrained (b) against free (a)", "constrained")


def _percent(answers: Sequence[ScoredResponse]) -> Cell:
    share = passed(answers).share
    return NOT_RUN if share is None else FixedFigure(100 * share)
