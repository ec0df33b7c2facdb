"""Tables of a run: accuracy, and the effects of constraint and order."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

from evaluation.reporting.tables import NOT_RUN, Cell, FixedFigure, Rate, Table
from evaluation.results.suite_pairs import pair_sides, paired_rates, pairs_with_free
from evaluation.results.suite_tables import passed, share_of
from evaluation.suites.quality.records import MEMBERS, TASKS, group_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

#: The name of the table that has the form of the paper's Table 7.
PAPER_FORM: Final = "paper-table-7"
#: The answers of a group, by model and condition.
_Sides: TypeAlias = "dict[str, list[ScoredResponse]]"


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    groups: dict[str, _Sides] = {}
    for group in (group_name(task, order) for order in MEMBERS for task in TASKS):
        groups[group] = {
            label: answers
            for label, side in run.by_label.items()
            if (answers := [answer for answer in side if answer.group == group])
        }
    yield _accuracy(groups)
    yield _paper_form([*run.by_label], groups)
    named = [
        {f"{group}: {label}": answers for label, answers in sides.items()}
        for group, sides in groups.items()
    ]
    constrained = [
        pair for sides in named for pair in pair_sides(sides, pairs_with_free(sides))
    ]
    yield paired_rates(constrained, "Constrained (b) against free (a)", "constrained")
    title = "Answer first (b) against reasoning first (a)"
    orders = [
        pair for task in TASKS for pair in pair_sides(*_in_both_orders(task, groups))
    ]
    yield paired_rates(orders, title, "answer-first")


def _accuracy(groups: dict[str, _Sides]) -> Table:
    columns = ("task", "model and condition", "right", "valid", "in order", "tokens")
    rows = [
        (
            group,
            label,
            passed(answers),
            _share(answers, "valid"),
            _share(answers, "in_order"),
            _tokens(answers),
        )
        for group, labels in groups.items()
        for label, answers in labels.items()
    ]
    note = (
        "right: the answer is the right one, however it is wrapped. valid: "
        "the JSON satisfies the schema. in order: of the answers that are an object, "
        "those whose members are in the requested order. tokens: the mean of an "
        "answer's length. Budgets are equal, free and constrained."
    )
    return Table(title="Accuracy", columns=columns, rows=tuple(rows), note=note)


def _share(answers: Sequence[ScoredResponse], score: str) -> Rate | None:
    """Return the share of answers that have a score of 1; None if none has it."""
    having = [answer for answer in answers if score in answer.verdict.scores]
    return share_of(having, score) if having else None


def _tokens(answers: Sequence[ScoredResponse]) -> float | None:
    counts = [answer.output_tokens for answer in answers]
    present = [count for count in counts if count is not None]
    return fmean(present) if present else None


def _paper_form(labels: Sequence[str], groups: dict[str, _Sides]) -> Table:
    def cell(label: str, task: str) -> Cell:
        share = passed(groups[task].get(label, ())).share
        return NOT_RUN if share is None else FixedFigure(100 * share)

    tasks = ("Last Letters (%)", "Shuffle Objects (%)", "GSM8K (%)")
    return Table(
        title="Accuracy on the quality tasks",
        name=PAPER_FORM,
        columns=("model and condition", *tasks),
        rows=tuple((label, *(cell(label, task) for task in TASKS)) for label in labels),
        note="The form of Table 7 of arXiv 2501.10868, reasoning first.",
    )


def _in_both_orders(
    task: str, groups: dict[str, _Sides]
) -> tuple[_Sides, list[tuple[str, str]]]:
    """Return a task's sides and their pairs: a problem has one id in both orders."""
    reasoning_first, answer_first = (group_name(task, order) for order in MEMBERS)
    sides = {
        f"{group}: {label}": [
            replace(answer, record=answer.record.rpartition("/")[2])
            for answer in answers
        ]
        for group in (reasoning_first, answer_first)
        for label, answers in groups[group].items()
    }
    labels = groups[reasoning_first].keys() & groups[answer_first].keys()
    return sides, [
        (f"{reasoning_first}: {label}", f"{answer_first}: {label}")
        for label in groups[reasoning_first]
        if label in labels
    ]
