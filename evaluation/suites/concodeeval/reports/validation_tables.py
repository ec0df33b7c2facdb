"""What task 2 shows beyond accuracy: keywords, the rate of yes, representations."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from evaluation.reporting.statistics import holm, mcnemar
from evaluation.reporting.tables import Rate, Shift, Table
from evaluation.suites.concodeeval.reports.answers import by_cell
from evaluation.suites.concodeeval.reports.measures import macro_f1, rate_of_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.concodeeval.reports.answers import Answer, AnswersByLabel

_WORDS = ("yes", "no")


def cell_table(validation: AnswersByLabel) -> Table:
    """Return every cell of task 2 with its denominators and intervals."""
    rows: list[tuple[Cell, ...]] = []
    for label, own in validation.items():
        for (representation, output), found in by_cell(own).items():
            rows.append((label, f"{representation} > {output}", *_figures(found)))
        if len(by_cell(own)) > 1:
            rows.append((label, "all", *_figures(own)))
    return Table(
        title="Task 2, cell by cell",
        columns=("model", "schema > sample", "Val Acc", "macro-F1", "answered"),
        rows=tuple(rows),
        note="answered: yes or no was said; what was not is wrong, unless the setting "
        "`unanswered` drops it.",
        name="validation-cells",
    )


def keyword_table(validation: AnswersByLabel) -> Table:
    """Return accuracy by the keyword that refuses the sample."""
    keywords = sorted(
        {answer.details.keyword for own in validation.values() for answer in own},
        key=lambda keyword: (keyword != "", keyword),
    )
    rows: list[tuple[Cell, ...]] = []
    for keyword in keywords:
        row: list[Cell] = [keyword or "(valid sample)"]
        for own in validation.values():
            chosen = [answer for answer in own if answer.details.keyword == keyword]
            row.append(rate_of_score(chosen, "val_acc") if chosen else None)
        rows.append(tuple(row))
    return Table(
        title="Val Acc by violated keyword",
        columns=("keyword", *validation),
        rows=tuple(rows),
        name="validation-keywords",
    )


def calibration_table(validation: AnswersByLabel) -> Table:
    """Return how often yes is said, against how often it is right."""
    rows: list[tuple[Cell, ...]] = []
    for label, own in validation.items():
        for (representation, output), found in (
            *by_cell(own).items(),
            (("all", ""), own),
        ):
            clear = [answer for answer in found if answer.details.said in _WORDS]
            said = _share_of(clear, "said")
            right = _share_of(clear, "label")
            shift = None
            if said.share is not None and right.share is not None:
                shift = Shift(said.share - right.share)
            cell = f"{representation} > {output}" if output else representation
            of_no = [answer for answer in clear if answer.details.label == "no"]
            of_yes = [answer for answer in clear if answer.details.label == "yes"]
            rows.append((label, cell, said, right, shift, _said(of_yes), _said(of_no)))
    return Table(
        title="Calibration of yes",
        columns=(
            "model",
            "schema > sample",
            "yes said",
            "yes right",
            "difference",
            "of valid",
            "of invalid",
        ),
        rows=tuple(rows),
        note="Of answers that are yes or no. of valid, of invalid: the share of valid "
        "and of invalid samples to which yes was said; equal ones tell nothing apart.",
        name="calibration",
    )


def unclear_table(validation: AnswersByLabel) -> Table:
    """Return what was said in answers that are neither yes nor no."""
    kinds = ("neither", "both", "nothing", "too_large")
    return Table(
        title="Answers that are neither yes nor no",
        columns=("model", "answers", "yes", "no", *kinds, "failed"),
        rows=tuple(
            (
                label,
                len(own),
                *(
                    sum(answer.details.said == kind for answer in own)
                    for kind in (*_WORDS, *kinds, "")
                ),
            )
            for label, own in validation.items()
        ),
        note="neither: none of the words; both: both as equals; failed: no answer.",
        name="unclear",
    )


def representation_tests(validation: AnswersByLabel) -> Table:
    """Return McNemar's tests between representations, on the samples that both show."""
    rows: list[tuple[Cell, ...]] = []
    for label, own in validation.items():
        right: dict[str, dict[tuple[str, str, int], bool]] = {}
        for answer in own:
            of_representation = right.setdefault(answer.details.representation, {})
            of_representation[answer.pair] = answer.verdict.passed
        compared = {
            pair: _discordant(right[pair[0]], right[pair[1]])
            for pair in combinations(right, 2)
        }
        adjusted = holm({pair: mcnemar(*found[1:]) for pair, found in compared.items()})
        for (first, second), (pairs, only_first, only_second) in compared.items():
            p = adjusted[first, second]
            rows.append((label, first, second, pairs, only_first, only_second, p))
    return Table(
        title="Representations compared (McNemar)",
        columns=("model", "a", "b", "pairs", "only a", "only b", "p (Holm)"),
        rows=tuple(rows),
        note="only a: samples judged rightly by a's representation alone. p: exact, "
        "two-sided, adjusted for the comparisons of one model.",
        name="representations",
    )


def _discordant(
    first: dict[tuple[str, str, int], bool], second: dict[tuple[str, str, int], bool]
) -> tuple[int, int, int]:
    """Return how many pairs there are, and how many only one of both has right."""
    shared = first.keys() & second.keys()
    only_first = sum(first[key] and not second[key] for key in shared)
    only_second = sum(second[key] and not first[key] for key in shared)
    return len(shared), only_first, only_second


def _figures(answers: Sequence[Answer]) -> tuple[Cell, ...]:
    f1 = macro_f1(answers)
    return (
        rate_of_score(answers, "val_acc"),
        None if f1 is None else round(f1, 3),
        rate_of_score(answers, "answered"),
    )


def _share_of(answers: Iterable[Answer], name: str) -> Rate:
    return Rate.of_answers(
        (answer.details.schema, getattr(answer.details, name) == "yes")
        for answer in answers
    )


def _said(answers: Sequence[Answer]) -> Rate | None:
    return _share_of(answers, "said") if answers else None
