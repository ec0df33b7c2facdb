"""The paper's tables 1 to 6 and Figure 1, then the further tables.

Figures of Tables 1, 2, 5 and 6 are per cent without an interval, as in the paper; the
tables of cells have their denominators and intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Cell, Table
from evaluation.results.suite_tables import compute_share
from evaluation.suites.common import count_table
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.scorer import PARTS
from evaluation.suites.concodeeval.suite import OUTPUTS, ConcodeSettings, Reading, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

_XML_PAPER: Final = " XML is read as xmltodict does, which measures the decoder."
Answers: TypeAlias = Sequence[ScoredResponse]
#: The answers that count by task, model, and the representation and format of a cell.
Cells: TypeAlias = dict[tuple[str, str, str, str], list[ScoredResponse]]
CountsOf: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, int]]


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables.

    Table 1, or 2 for a run with examples, to Table 6 and Figure 1 have the paper's
    forms; tables of a task without answers are left out.
    """
    settings = msgspec.convert(run.facts.get("settings") or {}, ConcodeSettings)
    xml_note = _XML_PAPER if settings.reading == "paper" else ""
    cells = select_cells(run)
    tasks = {task for task, *_ in cells}
    shots = "Table 2: few-shot" if settings.few_shot else "Table 1: zero-shot"
    yield _by_schema(
        f"{shots} accuracy",
        "Per cent. Gen: samples of task 1 that satisfy their schema (Gen Acc); Val: "
        f"answers of task 2 that are right (Val Acc).{xml_note}",
        cells,
        ("Gen", "Val"),
    )
    yield _length_table(run)
    if "generation" in tasks:
        yield count_table(
            "Table 4: violated keywords of task 1",
            "table-4",
            "keyword",
            _sums(cells, lambda facts: facts.get("keywords", {})),
            "Every violation of every answer counts; one answer may have several.",
        )
        yield _by_schema(
            "Table 5: invalid samples and wrong roots",
            "Per cent of all answers. IS: no value, since no closed fence was found "
            "(incomplete) or no text of the format (invalid); RTV: a value of another "
            f"type than the schema's root. Less is better.{xml_note}",
            cells,
            ("IS", "RTV"),
        )
        yield _locality_table(cells, settings.reading)
        yield _cell_table("generation", cells)
    if "validation" in tasks:
        note = "The mean of the F1 of yes and of no."
        yield _by_schema("Table 6: macro-F1 of task 2", note, cells, ("F1",))
        yield _cell_table("validation", cells)


def select_cells(run: ScoredRun) -> Cells:
    """Return the answers that count by their cells.

    Their ids name their cells, as there are no details where scoring failed.
    """
    cells: Cells = {}
    for label, answers in run.counted.items():
        for answer in answers:
            name = answer.record.removeprefix(f"{answer.group}/").partition(":")[0]
            task, representation, output = name.split("-")
            cell = (task, label, representation, output)
            cells.setdefault(cell, []).append(answer)
    return cells


def _percent(answers: Answers, *scores: str) -> float:
    """Return the share with one of some scores in per cent, as in the paper."""
    reached = [answer.verdict.scores.get(name) for name in scores for answer in answers]
    return round(100 * reached.count(1.0) / len(answers), 1)


def macro_f1(answers: Answers) -> float:
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


#: The figures of the paper's tables by their columns: their task, and what they are.
_FIGURES: Final[Mapping[str, tuple[Task, Callable[[Answers], float]]]] = {
    "Gen": ("generation", lambda answers: _percent(answers, "gen_acc")),
    "Val": ("validation", lambda answers: _percent(answers, "val_acc")),
    "IS": ("generation", lambda answers: _percent(answers, "invalid", "incomplete")),
    "RTV": ("generation", lambda answers: _percent(answers, "rtv")),
    "F1": ("validation", lambda answers: round(macro_f1(answers), 2)),
}


def _by_schema(title: str, note: str, cells: Cells, figures: Sequence[str]) -> Table:
    """Return figures of each format, a line for each representation and model."""
    columns = [(output, name) for output in OUTPUTS for name in figures]
    rows: list[tuple[Cell, ...]] = []
    labels = dict.fromkeys(label for _, label, *_ in cells)
    for representation, label in product(REPRESENTATIONS, labels):
        row: list[Cell] = []
        for output, name in columns:
            task, figure = _FIGURES[name]
            answers = cells.get((task, label, representation, output))
            row.append(figure(answers) if answers else None)
        if set(row) != {None}:
            rows.append((representation, label, *row))
    names = (f"{output.upper()} {name}" for output, name in columns)
    return Table(
        title=title,
        columns=("schema", "model", *names),
        rows=tuple(rows),
        note=note,
        name=title.partition(":")[0],
    ).without_empty_columns()


def _length_table(run: ScoredRun) -> Table:
    lengths: dict[str, dict[str, int]] = {name: {} for name in REPRESENTATIONS}
    for answer in chain.from_iterable(run.counted.values()):
        facts: Mapping[str, Any] = answer.verdict.details
        if "length" in facts:
            lengths[facts["representation"]][facts["schema"]] = facts["length"]
    return Table(
        title="Table 3: lengths of schemas",
        columns=("schema", "schemas", "max words", "mean words"),
        rows=tuple(
            (name, len(words), max(words.values()), round(fmean(words.values()), 1))
            for name, words in lengths.items()
            if words
        ),
        note="words: separated by white space. The paper names no unit.",
        name="table-3",
    )


def _sums(cells: Cells, counts_of: CountsOf) -> dict[str, Counter[str]]:
    """Return the sums of counts in the details of each model's answers of task 1."""
    sums: dict[str, Counter[str]] = {}
    for (task, label, *_), answers in cells.items():
        for answer in answers if task == "generation" else ():
            counts = counts_of(answer.verdict.details)
            sums.setdefault(label, Counter()).update(counts)
    return sums


def _locality_table(cells: Cells, reading: Reading) -> Table:
    sums = _sums(
        cells, lambda facts: dict(zip(PARTS, facts.get("locality", ()), strict=False))
    )
    rows: list[tuple[Cell, ...]] = []
    for (label, counts), part in product(sums.items(), PARTS):
        share = 100 * counts[part] / counts.total() if counts.total() else None
        rows.append((label, part, counts[part], share))
    parts = "20, 60 and 20 %" if reading == "paper" else "thirds"
    return Table(
        title="Figure 1: position of violated keywords",
        columns=("model", "part", "violations", "%"),
        rows=tuple(rows),
        note=f"Parts of the schema: {parts}, by the places of its keys in order.",
        name="figure-1",
    )


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
    parts: dict[str, dict[str, list[ScoredResponse]]] = {}
    for (of_task, label, *cell), answers in cells.items():
        if of_task == task:
            parts.setdefault(label, {})[" > ".join(cell)] = answers
    rows: list[dict[str, Cell]] = []
    for label, by_cell in parts.items():
        if len(by_cell) > 1:
            by_cell["all"] = [*chain.from_iterable(by_cell.values())]
        for part, answers in by_cell.items():
            row: dict[str, Cell] = {"model": label, "schema > sample": part}
            for name, score in _SCORES[task].items():
                row[name] = compute_share(answers, score)
            if task == "validation":
                row["macro-F1"] = round(macro_f1(answers), 3)
            rows.append(row)
    note = (
        "Brackets: Wilson's 95 % interval, answers about one schema taken together. "
        "formats on: with `format` asserted. answered: yes or no; what is neither is "
        "wrong, and under @paper dropped."
    )
    return Table.of_records(f"The cells of {task}", rows, note, f"{task}-cells")
