"""What went wrong in task 1: the paper's Table 4 and Figure 1, and every cell whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evaluation.reporting.charts import stack
from evaluation.reporting.tables import Rate, Table
from evaluation.suites.concodeeval.generation_task.locality import PARTS
from evaluation.suites.concodeeval.reports.answers import by_cell
from evaluation.suites.concodeeval.reports.measures import rate_of_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.reporting.report import Plot
    from evaluation.reporting.tables import Cell
    from evaluation.suites.concodeeval.reports.answers import Answer, AnswersByLabel


def keyword_table(generation: AnswersByLabel) -> Table:
    """Return the form of Table 4: how often each keyword is violated."""
    counts = {label: _keywords(own) for label, own in generation.items()}
    total = sum(counts.values(), Counter())
    return Table(
        title="Table 4: violated keywords of task 1",
        columns=("keyword", *counts),
        rows=tuple(
            (keyword, *(counts[label][keyword] for label in counts))
            for keyword, _ in total.most_common()
        ),
        note="Every violation of every answer counts; one answer may have several.",
        name="table-4",
    )


def locality_table(generation: AnswersByLabel, cut: str) -> Table:
    """Return the figures of Figure 1: where in the schema violated keywords stand."""
    rows: list[tuple[Cell, ...]] = []
    for label, own in generation.items():
        violated, there = _parts(own, "locality"), _parts(own, "constraints")
        for place, part in enumerate(PARTS):
            count, of = violated[place], there[place]
            rows.append(
                (
                    label,
                    part,
                    count,
                    100 * count / sum(violated) if sum(violated) else None,
                    of,
                    count / of if of else None,
                )
            )
    return Table(
        title="Figure 1: where violated keywords stand",
        columns=("model", "part", "violations", "%", "constraints", "per constraint"),
        rows=tuple(rows),
        note=f"Parts of the schema: {cut}, by the places of its keys in order. "
        "constraints: keywords there that can be violated, in the schemas of answers "
        "with a violation; parts hold different numbers of them.",
        name="figure-1",
    )


def locality_plot(generation: AnswersByLabel) -> Plot:
    """Draw Figure 1: the share of violations in each part."""
    bars = {
        label: dict(zip(PARTS, _parts(own, "locality"), strict=True))
        for label, own in generation.items()
    }
    title = "Where in the schema violated keywords stand"
    return stack("figure-1", title, bars, x_label="violations")


def cell_table(generation: AnswersByLabel) -> Table:
    """Return every cell of task 1 with its denominators and intervals."""
    rows: list[tuple[Cell, ...]] = []
    for label, own in generation.items():
        for (representation, output), found in by_cell(own).items():
            rows.append((label, f"{representation} > {output}", *_figures(found)))
        if len(by_cell(own)) > 1:
            rows.append((label, "all", *_figures(own)))
    return Table(
        title="Task 1, cell by cell",
        columns=(
            "model",
            "schema > sample",
            "Gen Acc",
            "formats on",
            "RTV",
            "invalid",
            "incomplete",
        ),
        rows=tuple(rows),
        note="Brackets: Wilson's 95 % interval, answers about one schema taken "
        "together. formats on: the same with `format` asserted.",
        name="generation-cells",
    )


def family_table(generation: AnswersByLabel) -> Table:
    """Return Gen Acc by family of schemas."""
    families = sorted(
        {answer.details.family for own in generation.values() for answer in own}
    )
    rows: list[tuple[Cell, ...]] = []
    for family in families:
        row: list[Cell] = [family]
        for own in generation.values():
            chosen = [answer for answer in own if answer.details.family == family]
            row.append(rate_of_score(chosen, "gen_acc") if chosen else None)
        rows.append(tuple(row))
    return Table(
        title="Gen Acc by family",
        columns=("family", *generation),
        rows=tuple(rows),
        name="generation-families",
    )


def _figures(answers: Sequence[Answer]) -> tuple[Rate, ...]:
    scores = ("gen_acc", "with_formats", "rtv", "invalid", "incomplete")
    return tuple(rate_of_score(answers, score) for score in scores)


def _keywords(answers: Iterable[Answer]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for answer in answers:
        counted.update(answer.details.keywords)
    return counted


def _parts(answers: Iterable[Answer], name: str) -> list[int]:
    """Return the sums over answers of a figure for each part of a schema."""
    sums = [0] * len(PARTS)
    for answer in answers:
        for place, count in enumerate(getattr(answer.details, name)):
            sums[place] += count
    return sums
