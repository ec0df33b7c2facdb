"""The paper's tables 1 to 6 and Figure 1, then the further tables.

Figures of Tables 1, 2, 5 and 6 are per cent without an interval, as in the paper; the
tables of cells have their denominators and intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluation.reporting.tables import Cell, Table
from evaluation.suites.concodeeval import task_tables
from evaluation.suites.concodeeval.representations import REPRESENTATIONS
from evaluation.suites.concodeeval.settings import (
    ConcodeSettings,
    Output,
    SuiteReading,
    TaskName,
    TextLength,
)
from evaluation.suites.concodeeval.task_tables import (
    Answer,
    AnswersByLabel,
    by_cell,
    macro_f1,
    rate_of_score,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.core.suite import ScoredRun

    #: A figure of the answers of one cell.
    Figure = Callable[[Sequence[Answer]], Cell]

_XML_PAPER: Final = (
    "XML is read as xmltodict reads it: every value is an object with one member, so "
    "RTV is the share of schemas with another root, and Gen Acc at most that of those "
    "which accept any object. The paper's highest RTV for XML is 74.5 %, of 74.8 % of "
    "its schemas with another root; its recurrent Gen Acc is 8.6 %."
)
_MEASURES: Final = ("words", "characters", "lines")


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables.

    Table 1, or 2 for a run with examples, to Table 6 and Figure 1 have the paper's
    forms; tables of a task without answers are left out.
    """
    settings = msgspec.convert(run.facts.get("settings") or {}, ConcodeSettings)
    generation = task_tables.answers_of(run, TaskName.GENERATION)
    validation = task_tables.answers_of(run, TaskName.VALIDATION)
    yield _accuracy_table(generation, validation, settings)
    yield _length_table(generation, validation)
    if generation:
        yield task_tables.violation_table(generation)
        yield _root_table(generation, settings)
        yield task_tables.locality_table(generation, settings.reading)
        yield task_tables.cell_table(TaskName.GENERATION, generation)
    if validation:
        yield _f1_table(validation)
        yield task_tables.cell_table(TaskName.VALIDATION, validation)


def _accuracy_table(
    generation: AnswersByLabel, validation: AnswersByLabel, settings: ConcodeSettings
) -> Table:
    """Return the form of Table 1, or of Table 2 for a run with examples."""
    number, shots = ("2", "few-shot") if settings.few_shot else ("1", "zero-shot")
    note = (
        "Per cent. Gen: samples of task 1 that satisfy their schema (Gen Acc); Val: "
        "answers of task 2 that are right (Val Acc)."
    )
    return _by_schema(
        f"Table {number}: {shots} accuracy",
        f"table-{number}",
        f"{note} {_XML_PAPER}" if settings.reading is SuiteReading.PAPER else note,
        (
            ("Gen", generation, lambda answers: _share(answers, "gen_acc")),
            ("Val", validation, lambda answers: _share(answers, "val_acc")),
        ),
    )


def _root_table(generation: AnswersByLabel, settings: ConcodeSettings) -> Table:
    note = (
        "Per cent of all answers. IS: no value, since no closed fence was found "
        "(incomplete) or no text of the format (invalid); RTV: a value of another type "
        "than the schema's root. Less is better."
    )
    return _by_schema(
        "Table 5: invalid samples and wrong roots",
        "table-5",
        f"{note} {_XML_PAPER}" if settings.reading is SuiteReading.PAPER else note,
        (
            (
                "IS",
                generation,
                lambda answers: _share(answers, "invalid", "incomplete"),
            ),
            ("RTV", generation, lambda answers: _share(answers, "rtv")),
        ),
    )


def _f1_table(validation: AnswersByLabel) -> Table:
    return _by_schema(
        "Table 6: macro-F1 of task 2",
        "table-6",
        "The mean of the F1 of yes and of no.",
        (("F1", validation, lambda answers: round(macro_f1(answers), 2)),),
    )


def _by_schema(
    title: str,
    name: str,
    note: str,
    figures: Sequence[tuple[str, AnswersByLabel, Figure]],
) -> Table:
    """Return a table with a line for each representation and model.

    Args:
        title: The table's title.
        name: Its name for programs.
        note: The explanation of the figures.
        figures: For each column of a format its name, the answers, and the figure.
    """
    labels = list(dict.fromkeys(label for _, side, _ in figures for label in side))
    cells = [
        ({label: by_cell(answers) for label, answers in side.items()}, figure)
        for _, side, figure in figures
    ]
    used = {key for side, _ in cells for by_key in side.values() for key in by_key}
    outputs = [output for output in Output if any(key[1] == output for key in used)]
    rows: list[tuple[Cell, ...]] = []
    for representation in REPRESENTATIONS:
        if not any(key[0] == representation for key in used):
            continue
        for label in labels:
            row: list[Cell] = [representation, label]
            for output in outputs:
                for side, figure in cells:
                    verdicts_here = side.get(label, {}).get(
                        (representation, output), ()
                    )
                    row.append(figure(verdicts_here) if verdicts_here else None)
            rows.append(tuple(row))
    columns = [
        f"{output.upper()} {column}" for output in outputs for column, _, _ in figures
    ]
    return Table(
        title=title,
        columns=("schema", "model", *columns),
        rows=tuple(rows),
        note=note,
        name=name,
    )


def _share(answers: Sequence[Answer], *scores: str) -> float:
    """Return the share with any of some scores in per cent, as in the paper."""
    counts = (rate_of_score(answers, score).count for score in scores)
    return round(100 * sum(counts) / len(answers), 1)


def _length_table(*sides: AnswersByLabel) -> Table:
    lengths = _lengths(
        answer for side in sides for answers in side.values() for answer in answers
    )
    rows: list[tuple[Cell, ...]] = []
    for representation in REPRESENTATIONS:
        measures = list(lengths.get(representation, {}).values())
        if not measures:
            continue
        row: list[Cell] = [representation, len(measures)]
        for measure in _MEASURES:
            values = [getattr(length, measure) for length in measures]
            row += [max(values), round(sum(values) / len(values), 1)]
        rows.append(tuple(row))
    columns = [f"{kind} {measure}" for measure in _MEASURES for kind in ("max", "mean")]
    return Table(
        title="Table 3: lengths of schemas",
        columns=("schema", "schemas", *columns),
        rows=tuple(rows),
        note="words: parted by white space. The paper names no unit.",
        name="table-3",
    )


def _lengths(answers: Iterable[Answer]) -> Mapping[str, Mapping[str, TextLength]]:
    """Return the lengths of schemas by representation and schema, each once."""
    lengths: dict[str, dict[str, TextLength]] = {}
    for answer in answers:
        if answer.details.length.characters:
            of_representation = lengths.setdefault(answer.details.representation, {})
            of_representation[answer.details.schema] = answer.details.length
    return lengths
