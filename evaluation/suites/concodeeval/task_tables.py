"""Tables of each task: violated keywords, Figure 1, cells, comparisons."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evaluation.reporting.tables import Cell, Rate, Table
from evaluation.suites.concodeeval.scorer import PARTS
from evaluation.suites.concodeeval.settings import SuiteReading, TaskName, TextLength

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.records import Verdict
    from evaluation.core.suite import ScoredResponse, ScoredRun


class AnswerDetails(msgspec.Struct, frozen=True, kw_only=True):
    """The details of a verdict of this suite."""

    task: TaskName
    representation: str
    output: str
    family: str
    schema: str
    length: TextLength
    #: Task 2: the right answer, the keyword that refuses the sample, and the reply.
    label: str = ""
    keyword: str = ""
    reply: str = ""
    #: Task 1: the number of violations of each keyword and in each part of the schema.
    keywords: dict[str, int] = {}
    locality: tuple[int, ...] = ()


class Answer(NamedTuple):
    """One answer with its verdict."""

    details: AnswerDetails
    verdict: Verdict


#: The answers of each model and condition.
AnswersByLabel = dict[str, list[Answer]]


def answers_of(run: ScoredRun, task: TaskName) -> AnswersByLabel:
    """Return the answers to one task of each model and condition.

    Answers that are not counted are left out; a failure of scoring is a failed answer
    of the record, whose cell its id names.
    """
    by_label: AnswersByLabel = {}
    for label, responses in run.by_label.items():
        answers = [_answer(scored) for scored in responses if scored.verdict.counted]
        of_task = [answer for answer in answers if answer.details.task is task]
        if of_task:
            by_label[label] = of_task
    return by_label


def _answer(scored: ScoredResponse) -> Answer:
    cell, _, name = scored.record.removeprefix(f"{scored.group}/").partition(":")
    facts = scored.verdict.details
    if "task" not in facts:
        # Scoring it hung or died, so that only its id names its cell.
        task, representation, output = cell.split("-")
        facts = {
            "task": task,
            "representation": representation,
            "output": output,
            "family": scored.group,
            "schema": name,
            "length": {"characters": 0, "lines": 0, "words": 0},
        }
    return Answer(msgspec.convert(facts, AnswerDetails), scored.verdict)


def by_cell(answers: Iterable[Answer]) -> Mapping[tuple[str, str], Sequence[Answer]]:
    """Return answers by representation and format of samples."""
    cells: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        key = (answer.details.representation, answer.details.output)
        cells.setdefault(key, []).append(answer)
    return cells


def rate_of_score(answers: Iterable[Answer], score: str) -> Rate:
    """Return the share of answers with a score of 1, clustered by schema.

    Args:
        answers: The answers.
        score: `gen_acc`, `rtv`, `invalid`, `incomplete`, `with_formats`, `val_acc`.
    """
    return Rate.of_answers(
        (answer.details.schema, answer.verdict.scores.get(score, 0.0) == 1.0)
        for answer in answers
    )


def macro_f1(answers: Sequence[Answer]) -> float:
    """Return the mean of the F1 of `yes` and of `no`.

    An answer that is neither is missed by its class and claimed by none. A class that
    is neither right nor answered has an F1 of 0, as in scikit-learn by default.

    Example:
        Of 55 valid and 45 invalid samples, an always-yes has 2*55/(100+55) and 0:

        >>> macro_f1(always_yes)
        0.3548387096774194
    """
    return (_f1(answers, "yes") + _f1(answers, "no")) / 2


def _f1(answers: Iterable[Answer], word: str) -> float:
    right = claims = agreed = 0
    for answer in answers:
        right += answer.details.label == word
        claims += answer.details.reply == word
        agreed += answer.details.label == answer.details.reply == word
    return 2 * agreed / (right + claims) if right + claims else 0.0


def violation_table(generation: AnswersByLabel) -> Table:
    """Return the form of Table 4: the number of violations of each keyword."""
    counts: dict[str, Counter[str]] = {}
    for label, answers in generation.items():
        counts[label] = Counter()
        for answer in answers:
            counts[label].update(answer.details.keywords)
    total = sum(counts.values(), Counter[str]())
    return Table(
        title="Table 4: violated keywords of task 1",
        columns=("keyword", *counts),
        rows=tuple(
            (keyword, *(counted[keyword] for counted in counts.values()))
            for keyword, _ in total.most_common()
        ),
        note="Every violation of every answer counts; one answer may have several.",
        name="table-4",
    )


def locality_table(generation: AnswersByLabel, reading: SuiteReading) -> Table:
    """Return the figures of Figure 1: the places of violated keywords in the schema."""
    parts = "20, 60 and 20 %" if reading is SuiteReading.PAPER else "thirds"
    rows: list[tuple[Cell, ...]] = []
    for label, answers in generation.items():
        counts = Counter[int]()
        for answer in answers:
            counts.update(dict(enumerate(answer.details.locality)))
        total = counts.total()
        for index, part in enumerate(PARTS):
            share = 100 * counts[index] / total if total else None
            rows.append((label, part, counts[index], share))
    return Table(
        title="Figure 1: position of violated keywords",
        columns=("model", "part", "violations", "%"),
        rows=tuple(rows),
        note=f"Parts of the schema: {parts}, by the places of its keys in order.",
        name="figure-1",
    )


#: Scores of each task by the names of their columns.
_CELLS: Final = {
    TaskName.GENERATION: {
        "Gen Acc": "gen_acc",
        "formats on": "with_formats",
        "RTV": "rtv",
        "invalid": "invalid",
        "incomplete": "incomplete",
    },
    TaskName.VALIDATION: {"Val Acc": "val_acc", "answered": "answered"},
}


def cell_table(task: TaskName, by_label: AnswersByLabel) -> Table:
    """Return every cell of a task with its denominators and intervals."""
    rows: list[dict[str, Cell]] = []
    for label, cell, answers in _cells(by_label):
        row: dict[str, Cell] = {"model": label, "schema > sample": cell}
        for column, score in _CELLS[task].items():
            row[column] = rate_of_score(answers, score)
        if task is TaskName.VALIDATION:
            row["macro-F1"] = round(macro_f1(answers), 3)
        rows.append(row)
    note = (
        "Brackets: Wilson's 95 % interval, answers about one schema taken together. "
        "formats on: with `format` asserted. answered: yes or no; what is neither is "
        "wrong, and under @paper dropped."
    )
    return Table.of_records(f"The cells of {task}", rows, note, f"{task}-cells")


def _cells(by_label: AnswersByLabel) -> Iterator[tuple[str, str, Sequence[Answer]]]:
    """Yield the answers of each label and cell, and of all cells if there are more."""
    for label, answers in by_label.items():
        cells = by_cell(answers)
        for (representation, output), cell_answers in cells.items():
            yield label, f"{representation} > {output}", cell_answers
        if len(cells) > 1:
            yield label, "all", answers
