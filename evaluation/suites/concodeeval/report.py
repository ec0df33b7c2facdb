"""The paper's tables 1 to 6 and Figure 1, then the further tables.

Figures of Tables 1, 2, 5 and 6 are per cent without an interval, as in the paper; the
tables of cells have their denominators and intervals.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from evaluation.reporting.tables import Cell, Rate, Table
from evaluation.suites.common import count_table
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.scorer import PARTS
from evaluation.suites.concodeeval.suite import OUTPUTS, ConcodeSettings, Reading, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse, ScoredRun

    #: A figure of the answers of one cell.
    Figure = Callable[[Sequence["Answer"]], Cell]

_XML_PAPER: Final = (
    "XML is read as xmltodict reads it: every value is an object with one member, so "
    "RTV is the share of schemas with another root, and Gen Acc at most that of those "
    "which accept any object. The paper's highest RTV for XML is 74.5 %, of 74.8 % of "
    "its schemas with another root; its recurrent Gen Acc is 8.6 %."
)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: the details of its verdict, and its scores."""

    task: Task
    representation: str
    output: str
    family: str
    schema: str
    length: int
    #: Task 2: the right answer, the keyword that refuses the sample, and the reply.
    label: str = ""
    keyword: str = ""
    reply: str = ""
    #: Task 1: the number of violations of each keyword and in each part of the schema.
    keywords: dict[str, int] = {}
    locality: tuple[int, ...] = ()
    scores: dict[str, float] = {}


#: The answers of each model and condition.
AnswersByLabel: TypeAlias = dict[str, list[Answer]]


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables.

    Table 1, or 2 for a run with examples, to Table 6 and Figure 1 have the paper's
    forms; tables of a task without answers are left out.
    """
    settings = msgspec.convert(run.facts.get("settings") or {}, ConcodeSettings)
    generation = answers_of(run, "generation")
    validation = answers_of(run, "validation")
    xml_note = f" {_XML_PAPER}" if settings.reading == "paper" else ""
    number, shots = ("2", "few-shot") if settings.few_shot else ("1", "zero-shot")
    yield _by_schema(
        f"Table {number}: {shots} accuracy",
        f"table-{number}",
        "Per cent. Gen: samples of task 1 that satisfy their schema (Gen Acc); Val: "
        f"answers of task 2 that are right (Val Acc).{xml_note}",
        {
            "Gen": (generation, lambda answers: _share(answers, "gen_acc")),
            "Val": (validation, lambda answers: _share(answers, "val_acc")),
        },
    )
    yield _length_table(generation, validation)
    if generation:
        yield _violation_table(generation)
        yield _by_schema(
            "Table 5: invalid samples and wrong roots",
            "table-5",
            "Per cent of all answers. IS: no value, since no closed fence was found "
            "(incomplete) or no text of the format (invalid); RTV: a value of another "
            f"type than the schema's root. Less is better.{xml_note}",
            {
                "IS": (
                    generation,
                    lambda answers: _share(answers, "invalid", "incomplete"),
                ),
                "RTV": (generation, lambda answers: _share(answers, "rtv")),
            },
        )
        yield _locality_table(generation, settings.reading)
        yield _cell_table("generation", generation)
    if validation:
        yield _by_schema(
            "Table 6: macro-F1 of task 2",
            "table-6",
            "The mean of the F1 of yes and of no.",
            {"F1": (validation, lambda answers: round(macro_f1(answers), 2))},
        )
        yield _cell_table("validation", validation)


def answers_of(run: ScoredRun, task: Task) -> AnswersByLabel:
    """Return the answers to one task of each model and condition.

    Answers that are not counted are left out; a failure of scoring is a failed answer
    of the record, whose cell its id names.
    """
    by_label = {
        label: [answer for answer in map(_answer, responses) if answer.task == task]
        for label, responses in run.counted.items()
    }
    return {label: answers for label, answers in by_label.items() if answers}


def _answer(scored: ScoredResponse) -> Answer:
    facts = scored.verdict.details
    if "task" not in facts:
        # Scoring it hung or died, so that only its id names its cell.
        cell, _, name = scored.record.removeprefix(f"{scored.group}/").partition(":")
        names = ("task", "representation", "output", "family", "schema")
        facts = dict(zip(names, (*cell.split("-"), scored.group, name), strict=True))
        facts["length"] = 0
    return msgspec.convert({**facts, "scores": scored.verdict.scores}, Answer)


def by_cell(answers: Iterable[Answer]) -> Mapping[tuple[str, str], Sequence[Answer]]:
    """Return answers by representation and format of samples."""
    cells: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        cells.setdefault((answer.representation, answer.output), []).append(answer)
    return cells


def _by_schema(
    title: str,
    name: str,
    note: str,
    figures: Mapping[str, tuple[AnswersByLabel, Figure]],
) -> Table:
    """Return a table with a line for each representation and model.

    Args:
        title: The table's title.
        name: Its name for programs.
        note: The explanation of the figures.
        figures: The answers and the figure of each column of a format, by its name.
    """
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for column, (side, figure) in figures.items():
        for label, answers in side.items():
            for (representation, output), part in by_cell(answers).items():
                row = rows.setdefault((representation, label), {})
                row[f"{output.upper()} {column}"] = figure(part)
    names = [f"{output.upper()} {column}" for output in OUTPUTS for column in figures]
    columns = [name for name in names if any(name in row for row in rows.values())]
    ordered = sorted(rows, key=lambda key: [*REPRESENTATIONS].index(key[0]))
    return Table(
        title=title,
        columns=("schema", "model", *columns),
        rows=tuple((*key, *map(rows[key].get, columns)) for key in ordered),
        note=note,
        name=name,
    )


def _rate(answers: Iterable[Answer], *scores: str) -> Rate:
    """Return the share of answers with any of some scores, clustered by schema."""
    return Rate.of_answers(
        (answer.schema, any(answer.scores.get(score) == 1.0 for score in scores))
        for answer in answers
    )


def _share(answers: Sequence[Answer], *scores: str) -> float:
    """Return the share with any of some scores in per cent, as in the paper."""
    return round(100 * _rate(answers, *scores).count / len(answers), 1)


def _length_table(*sides: AnswersByLabel) -> Table:
    lengths: dict[str, dict[str, int]] = {name: {} for name in REPRESENTATIONS}
    for answer in chain.from_iterable(chain(*(side.values() for side in sides))):
        if answer.length:
            lengths[answer.representation][answer.schema] = answer.length
    rows: list[dict[str, Cell]] = [
        {
            "schema": representation,
            "schemas": len(words),
            "max words": max(words.values()),
            "mean words": round(sum(words.values()) / len(words), 1),
        }
        for representation, words in lengths.items()
        if words
    ]
    note = "words: separated by white space. The paper names no unit."
    return Table.of_records("Table 3: lengths of schemas", rows, note, "table-3")


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
        right += answer.label == word
        claims += answer.reply == word
        agreed += answer.label == answer.reply == word
    return 2 * agreed / (right + claims) if right + claims else 0.0


def _violation_table(generation: AnswersByLabel) -> Table:
    counts = {label: Counter[str]() for label in generation}
    for label, answers in generation.items():
        for answer in answers:
            counts[label].update(answer.keywords)
    return count_table(
        "Table 4: violated keywords of task 1",
        "table-4",
        "keyword",
        counts,
        "Every violation of every answer counts; one answer may have several.",
    )


def _locality_table(generation: AnswersByLabel, reading: Reading) -> Table:
    parts = "20, 60 and 20 %" if reading == "paper" else "thirds"
    rows: list[tuple[Cell, ...]] = []
    for label, answers in generation.items():
        counts = Counter[int]()
        for answer in answers:
            counts.update(dict(enumerate(answer.locality)))
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
_CELLS: Final[Mapping[Task, Mapping[str, str]]] = {
    "generation": {
        "Gen Acc": "gen_acc",
        "formats on": "with_formats",
        "RTV": "rtv",
        "invalid": "invalid",
        "incomplete": "incomplete",
    },
    "validation": {"Val Acc": "val_acc", "answered": "answered"},
}


def _cell_table(task: Task, by_label: AnswersByLabel) -> Table:
    """Return every cell of a task, and all of several, with intervals."""
    rows: list[dict[str, Cell]] = []
    for label, answers in by_label.items():
        cells = {" > ".join(cell): part for cell, part in by_cell(answers).items()}
        if len(cells) > 1:
            cells["all"] = answers
        for cell, part in cells.items():
            row: dict[str, Cell] = {"model": label, "schema > sample": cell}
            row |= {name: _rate(part, score) for name, score in _CELLS[task].items()}
            if task == "validation":
                row["macro-F1"] = round(macro_f1(part), 3)
            rows.append(row)
    note = (
        "Brackets: Wilson's 95 % interval, answers about one schema taken together. "
        "formats on: with `format` asserted. answered: yes or no; what is neither is "
        "wrong, and under @paper dropped."
    )
    return Table.of_records(f"The cells of {task}", rows, note, f"{task}-cells")
