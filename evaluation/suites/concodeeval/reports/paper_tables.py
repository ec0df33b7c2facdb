"""The paper's tables 1, 2, 5 and 6: a line for each representation and model.

Figures are per cent without an interval, as the paper has them; the table of cells
holds their denominators and intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import Table
from evaluation.suites.concodeeval.answers.read_answer import Output
from evaluation.suites.concodeeval.reports.answers import by_cell
from evaluation.suites.concodeeval.reports.measures import (
    macro_f1,
    per_cent,
    rate_of_score,
)
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.concodeeval.reports.answers import Answer, AnswersByLabel

    #: A figure of the answers of one cell.
    Figure = Callable[[Sequence[Answer]], Cell]

_XML_PAPER: Final = (
    "XML is read as xmltodict reads it: every value is an object with one member, so "
    "RTV is the share of schemas with another root, and Gen Acc at most that of those "
    "which accept any object. The paper's highest RTV for XML is 74.5 %, of 74.8 % of "
    "its schemas with another root; its recurrent Gen Acc is 8.6 %."
)


def accuracy_table(
    generation: AnswersByLabel,
    validation: AnswersByLabel,
    *,
    few_shot: bool,
    paper_xml: bool,
) -> Table:
    """Return the form of Table 1, or of Table 2 for a run with examples."""
    number, shots = ("2", "few-shot") if few_shot else ("1", "zero-shot")
    note = (
        "Per cent. Gen: samples of task 1 that satisfy their schema (Gen Acc); Val: "
        "answers of task 2 that are right (Val Acc)."
    )
    return _by_schema(
        f"Table {number}: {shots} accuracy",
        f"table-{number}",
        f"{note} {_XML_PAPER}" if paper_xml else note,
        (
            ("Gen", generation, lambda found: _share(found, "gen_acc")),
            ("Val", validation, lambda found: _share(found, "val_acc")),
        ),
    )


def root_table(generation: AnswersByLabel, *, paper_xml: bool) -> Table:
    """Return the form of Table 5: invalid samples, and samples of a wrong root."""
    note = (
        "Per cent of all answers. IS: no value, since there is no closed fence "
        "(incomplete) or no text of the format (invalid); RTV: a value of another type "
        "than the schema's root. Less is better."
    )
    return _by_schema(
        "Table 5: invalid samples and wrong roots",
        "table-5",
        f"{note} {_XML_PAPER}" if paper_xml else note,
        (
            ("IS", generation, _invalid),
            ("RTV", generation, lambda found: _share(found, "rtv")),
        ),
    )


def f1_table(validation: AnswersByLabel) -> Table:
    """Return the form of Table 6: the macro-averaged F1 of task 2."""
    return _by_schema(
        "Table 6: macro-F1 of task 2",
        "table-6",
        "The mean of the F1 of yes and of no.",
        (("F1", validation, _rounded_f1),),
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
        note: What the figures are.
        figures: For each column of a format its name, the answers, and the figure.
    """
    labels = list(dict.fromkeys(label for _, found, _ in figures for label in found))
    cells = [
        ({label: by_cell(own) for label, own in found.items()}, figure)
        for _, found, figure in figures
    ]
    used = {key for found, _ in cells for by_key in found.values() for key in by_key}
    outputs = [output for output in Output if any(key[1] == output for key in used)]
    rows: list[tuple[Cell, ...]] = []
    for representation in REPRESENTATIONS:
        if not any(key[0] == representation for key in used):
            continue
        for label in labels:
            row: list[Cell] = [representation, label]
            for output in outputs:
                for found, figure in cells:
                    own = found.get(label, {}).get((representation, output), ())
                    row.append(figure(own) if own else None)
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


def _share(answers: Sequence[Answer], score: str) -> float | None:
    return per_cent(rate_of_score(answers, score))


def _invalid(answers: Sequence[Answer]) -> float | None:
    parts = (rate_of_score(answers, name) for name in ("invalid", "incomplete"))
    return round(100 * sum(part.count for part in parts) / len(answers), 1)


def _rounded_f1(answers: Sequence[Answer]) -> float | None:
    found = macro_f1(answers)
    return None if found is None else round(found, 2)
