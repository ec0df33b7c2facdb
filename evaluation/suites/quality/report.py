"""Tables of a run: accuracy, and the effects of constraint and order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from evaluation.reporting.tables import NOT_RUN, Cell, FixedFigure, Rate, Table
from evaluation.results.suite_pairs import (
    PairedSides,
    pair_sides,
    paired_rates,
    pairs_with_free,
)
from evaluation.results.suite_tables import passed, share_of
from evaluation.suites.quality.records import MEMBERS, Orders, group_name
from evaluation.suites.quality.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

#: The name of the table that has the form of the paper's Table 7.
PAPER_FORM: Final = "paper-table-7"
#: Answers by group, then by model and condition.
_Groups: TypeAlias = "dict[str, dict[str, list[ScoredResponse]]]"


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    groups = _by_group(run.by_label)
    yield _accuracy(groups)
    yield _paper_form(run.by_label, groups)
    yield _constraint(groups)
    yield _order(groups)


def _by_group(labels: Mapping[str, Sequence[ScoredResponse]]) -> _Groups:
    groups: _Groups = {
        group_name(task, order): {}
        for order in (Orders.REASONING_FIRST, Orders.ANSWER_FIRST)
        for task in TASKS
    }
    for label, answers in labels.items():
        for answer in answers:
            groups.setdefault(answer.group, {}).setdefault(label, []).append(answer)
    return {group: answers for group, answers in groups.items() if answers}


def _share(answers: Sequence[ScoredResponse], score: str) -> Rate | None:
    """Return the share of answers that have a score of 1; None if none has it."""
    having = [answer for answer in answers if score in answer.verdict.scores]
    if not having:
        return None
    return share_of(having, score)


def _tokens(answers: Sequence[ScoredResponse]) -> float | None:
    counts = [answer.output_tokens for answer in answers]
    figures = [count for count in counts if count is not None]
    return sum(figures) / len(figures) if figures else None


def _accuracy(groups: _Groups) -> Table:
    return Table(
        title="Accuracy",
        columns=("task", "model and condition", "right", "valid", "in order", "tokens"),
        rows=tuple(
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
        ),
        note="right: the answer is the right one, however it is wrapped. valid: "
        "the JSON satisfies the schema. in order: of the answers that are an object, "
        "those whose members are in the requested order. tokens: the mean of an "
        "answer's length. Budgets are equal, free and constrained.",
    )


def _paper_form(
    labels: Mapping[str, Sequence[ScoredResponse]], groups: _Groups
) -> Table:
    def cell(label: str, task: str) -> Cell:
        answers = groups.get(task, {}).get(label)
        share = passed(answers).share if answers else None
        return NOT_RUN if share is None else FixedFigure(100 * share)

    return Table(
        title="Accuracy on the quality tasks",
        name=PAPER_FORM,
        columns=(
            "model and condition",
            "Last Letters (%)",
            "Shuffle Objects (%)",
            "GSM8K (%)",
        ),
        rows=tuple((label, *(cell(label, task) for task in TASKS)) for label in labels),
        note="The form of Table 7 of arXiv 2501.10868, reasoning first.",
    )


def _constraint(groups: _Groups) -> Table:
    """Compare every constrained side with the free one of the same model."""
    pairs: list[PairedSides] = []
    for group, sides in groups.items():
        named = {f"{group}: {label}": answers for label, answers in sides.items()}
        pairs += pair_sides(named, pairs_with_free(named))
    return paired_rates(pairs, "Constrained (b) against free (a)", "constrained")


def _order(groups: _Groups) -> Table:
    """Compare the two orders of one task: a problem has the same id in both."""
    pairs: list[PairedSides] = []
    for task in TASKS:
        names = [group_name(task, order) for order in MEMBERS]
        reference, second = (groups.get(name, {}) for name in names)
        sides = {
            f"{name}: {label}": [
                replace(answer, record=answer.record.rpartition("/")[2])
                for answer in answers
            ]
            for name, side in zip(names, (reference, second), strict=True)
            for label, answers in side.items()
        }
        labels = [
            (f"{names[0]}: {label}", f"{names[1]}: {label}")
            for label in reference
            if label in second
        ]
        pairs += pair_sides(sides, labels)
    return paired_rates(
        pairs, "Answer first (b) against reasoning first (a)", "answer-first"
    )
