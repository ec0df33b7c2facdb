"""Tables of a run: accuracy, and the effect of a constraint."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import NOT_RUN, Cell, FixedFigure, Rate, Table
from evaluation.results.suite_pairs import pair_sides, paired_rates, pairs_with_free
from evaluation.results.suite_tables import passed, share_of
from evaluation.suites.quality.records import TASKS

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
    rows: list[dict[str, Cell]] = [
        {
            "task": task,
            "model and condition": label,
            "right": passed(answers),
            "valid": _share(answers, "valid"),
            "in order": _share(answers, "in_order"),
            "tokens": _tokens(answers),
        }
        for task in TASKS
        for label in run.by_label
        if (answers := sides[f"{task}: {label}"])
    ]
    note = (
        "right: the answer is the right one, however it is wrapped. valid: "
        "the JSON satisfies the schema. in order: of the answers that are an object, "
        "those whose members are in the requested order. tokens: the mean of an "
        "answer's length. Budgets are equal, free and constrained."
    )
    yield Table.of_records("Accuracy", rows, note)
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
    title = "Constrained (b) against free (a)"
    yield paired_rates(constrained, title, "constrained")


def _share(answers: Sequence[ScoredResponse], score: str) -> Rate | None:
    """Return the share of answers that have a score of 1; None if none has it."""
    having = [answer for answer in answers if score in answer.verdict.scores]
    return share_of(having, score) if having else None


def _tokens(answers: Sequence[ScoredResponse]) -> float | None:
    counts = [answer.output_tokens for answer in answers]
    present = [count for count in counts if count is not None]
    return fmean(present) if present else None


def _percent(answers: Sequence[ScoredResponse]) -> Cell:
    share = passed(answers).share
    return NOT_RUN if share is None else FixedFigure(100 * share)
