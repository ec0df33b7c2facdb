"""Which single requirement costs most, and which errors are the most frequent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evaluation.reporting.tables import MissingFigure, Rate, Table
from evaluation.suites.ifstruct.core.requirement import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.ifstruct.reporting.verdicts import JudgedResponse

#: Error classes that the published summary shows.
_TOP: Final = 10


def requirement_costs(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return how often each requirement is lost, and how often it alone."""
    rows: list[tuple[Cell, ...]] = []
    for requirement in Requirement:
        for label, listed in responses.items():
            asked = [one for one in listed if requirement in one.asked]
            lost = [one for one in asked if requirement in one.lost]
            alone = [one for one in lost if len(one.lost) == 1]
            kept = [one for one in asked if one.passed]
            rows.append(
                (
                    str(requirement),
                    label,
                    _rate(len(lost), len(asked)),
                    _rate(len(alone), len(alone) + len(kept)),
                )
            )
    return Table(
        title="What each requirement costs",
        columns=("requirement", "model", "lost", "lost with all others kept"),
        rows=tuple(rows),
        note="lost: of the responses to rows that ask for it. lost with all others "
        "kept: of the responses that keep every other requirement of their row, those "
        "that lose this one. What cannot be read loses an answer, its syntax or its "
        "format, and nothing is known of the rest.",
        name="requirements",
    )


def _rate(count: int, of: int) -> Cell:
    return Rate(count, of) if of else MissingFigure("no row")


def published_classes(responses: Mapping[str, Sequence[JudgedResponse]]) -> Table:
    """Return the most frequent error classes, booked as the published summary does."""
    counts = {
        label: Counter(error for one in listed for error in one.published_errors)
        for label, listed in responses.items()
    }
    total = sum(counts.values(), Counter[str]())
    names = [name for name, _ in total.most_common(_TOP)]
    return Table(
        title="Most frequent errors, as the published summary books them",
        columns=("error", *counts),
        rows=tuple(
            (name, *(found[name] for found in counts.values())) for name in names
        ),
        note="Errors, not responses: one response may have several, and a wrong number "
        "of items counts twice where the schema says it too.",
        name="published-errors",
    )
