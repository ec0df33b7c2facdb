"""The paper's tables 1 to 6 and Figure 1, then the further tables.

Figures of Tables 1, 2, 5 and 6 are per cent without an interval, as in the paper; the
tables of cells have their denominators and intervals.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Cell, Table
from evaluation.results.suite_tables import share_of
from evaluation.suites.common import count_table
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.scorer import PARTS
from evaluation.suites.concodeeval.suite import OUTPUTS, ConcodeSettings, Reading, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    #: A figure of the answers of one cell.
    Figure = Callable[[Sequence[ScoredResponse]], Cell]

_XML_PAPER: Final = (
    "XML is read as xmltodict reads it: every value is an object with one member, so "
    "RTV is the share of schemas with another root, and Gen Acc at most that of those "
    "which accept any object. The paper's highest RTV for XML is 74.5 %, of 74.8 % of "
    "its schemas with another root; its recurrent Gen Acc is 8.6 %."
)
#: The answers of each model by the representation and the format of samples.
Cells: TypeAlias = dict[str, dict[tuple[str, str], list[ScoredResponse]]]


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables.

    Table 1, or 2 for a run with examples, to Table 6 and Figure 1 have the paper's
    forms; tables of a task without answers are left out.
    """
    settings = msgspec.convert(run.facts.get("settings") or {}, ConcodeSettings)
    generation = cells_of(run, "generation")
    validation = cells_of(run, "validation")
    xml_note = f" {_XML_PAPER}" if settings.reading == "paper" else ""
    number, shots = ("2", "few-shot") if settings.few_shot else ("1", "zero-shot")
    yield _by_schema(
        f"Table {number}: {shots} accuracy",
        f"table-{number}",
        "Per cent. Gen: samples of task 1 that satisfy their schema (Gen Acc); Val: "
        f"answers of task 2 that are right (Val Acc).{xml_note}",
        {
            "Gen": (generation, lambda answers: _percent(answers, "gen_acc")),
            "Val": (validation, lambda answers: _percent(answers, "val_acc")),
        },
    )
    yield _length_table(run)
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
                    lambda answers: _percent(answers, "invalid", "incomplete"),
                ),
                "RTV": (generation, lambda answers: _percent(answers, "rtv")),
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


def cells_of(run: ScoredRun, task: Task) -> Cells:
    """Return the answers to one task that count.

    Their ids name their cells, as there are no details where scoring failed.
    """
    cells: Cells = {}
    for label, answers in run.counted.items():
        for answer in answers:
            name = answer.record.removeprefix(f"{answer.group}/").partition(":")[0]
            of_task, representation, output = name.split("-")
            if of_task == task:
                by_cell = cells.setdefault(label, {})
                by_cell.setdefault((representation, output), []).append(answer)
    return cells


def _by_schema(
    title: str, name: str, note: str, figures: Mapping[str, tuple[Cells, Figure]]
) -> Table:
    """Return a table with a line for each representation and model.

    Args:
        title: The table's title.
        name: Its name for programs.
        note: The explanation of the figures.
        figures: The answers and the figure of each column of a format, by its name.
    """
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for column, (cells, figure) in figures.items():
        for label, by_cell in cells.items():
            for (representation, output), answers in by_cell.items():
                row = rows.setdefault((representation, label), {})
                row[f"{output.upper()} {column}"] = figure(answers)
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


def _percent(answers: Sequence[ScoredResponse], *scores: str) -> float:
    """Return the share with one of some scores in per cent, as in the paper."""
    reached = [answer.verdict.scores.get(name) for name in scores for answer in answers]
    return round(100 * reached.count(1.0) / len(answers), 1)


def macro_f1(answers: Sequence[ScoredResponse]) -> float:
    """Return the mean of the F1 of `yes` and of `no`.

    An answer that is neither is missed by its class and claimed by none. A class that
    is neither right nor answered has an F1 of 0, as in scikit-learn by default.

    Example:
        Of 55 valid and 45 invalid samples, an always-yes has 2*55/(100+55) and 0:

        >>> macro_f1(always_yes)
        0.3548387096774194
    """
    labels = [answer.verdict.details.get("label") for answer in answers]
    replies = [answer.verdict.details.get("reply") for answer in answers]
    pairs = [*zip(labels, replies, strict=True)]
    claims = {word: labels.count(word) + replies.count(word) for word in ("yes", "no")}
    return fmean(
        2 * pairs.count((word, word)) / of if of else 0.0 for word, of in claims.items()
    )


def _length_table(run: ScoredRun) -> Table:
    lengths: dict[str, dict[str, int]] = {name: {} for name in REPRESENTATIONS}
    for answer in chain.from_iterable(run.counted.values()):
        facts: Mapping[str, Any] = answer.verdict.details
        if "length" in facts:
            lengths[facts["representation"]][facts["schema"]] = facts["length"]
    rows: list[dict[str, Cell]] = [
        {
            "schema": representation,
            "schemas": len(words),
            "max words": max(words.values()),
            "mean words": round(fmean(words.values()), 1),
        }
        for representation, words in lengths.items()
        if words
    ]
    note = "words: separated by white space. The paper names no unit."
    return Table.of_records("Table 3: lengths of schemas", rows, note, "table-3")


def _violation_table(generation: Cells) -> Table:
    counts = {label: Counter[str]() for label in generation}
    for label, by_cell in generation.items():
        for answer in chain.from_iterable(by_cell.values()):
            facts: Mapping[str, Any] = answer.verdict.details
            counts[label].update(facts.get("keywords", {}))
    return count_table(
        "Table 4: violated keywords of task 1",
        "table-4",
        "keyword",
        counts,
        "Every violation of every answer counts; one answer may have several.",
    )


def _locality_table(generation: Cells, reading: Reading) -> Table:
    rows: list[dict[str, Cell]] = []
    for label, by_cell in generation.items():
        counts = Counter[str]()
        for answer in chain.from_iterable(by_cell.values()):
            facts: Mapping[str, Any] = answer.verdict.details
            counts.update(dict(zip(PARTS, facts.get("locality", ()), strict=False)))
        total = counts.total()
        for part in PARTS:
            share = 100 * counts[part] / total if total else None
            rows.append(
                {"model": label, "part": part, "violations": counts[part], "%": share}
            )
    parts = "20, 60 and 20 %" if reading == "paper" else "thirds"
    note = f"Parts of the schema: {parts}, by the places of its keys in order."
    title = "Figure 1: position of violated keywords"
    return Table.of_records(title, rows, note, "figure-1")


#: Scores of each task by the names of their columns.
_SCORES: Final[Mapping[Task, Mapping[str, str]]] = {
    "generation": {
        "Gen Acc": "gen_acc",
        "formats on": "with_formats",
        "RTV": "rtv",
        "invalid": "invalid",
        "incomplete": "incomplete",
    },
    "validation": {"Val Acc": "val_acc", "answered": "answered"},
}


def _cell_table(task: Task, cells: Cells) -> Table:
    """Return every cell of a task, and all of several, with intervals."""
    rows: list[dict[str, Cell]] = []
    for label, by_cell in cells.items():
        parts = {" > ".join(cell): answers for cell, answers in by_cell.items()}
        if len(parts) > 1:
            parts["all"] = [*chain.from_iterable(by_cell.values())]
        for part, answers in parts.items():
            row: dict[str, Cell] = {"model": label, "schema > sample": part}
            for name, score in _SCORES[task].items():
                row[name] = share_of(answers, score)
            if task == "validation":
                row["macro-F1"] = round(macro_f1(answers), 3)
            rows.append(row)
    note = (
        "Brackets: Wilson's 95 % interval, answers about one schema taken together. "
        "formats on: with `format` asserted. answered: yes or no; what is neither is "
        "wrong, and under @paper dropped."
    )
    return Table.of_records(f"The cells of {task}", rows, note, f"{task}-cells")
