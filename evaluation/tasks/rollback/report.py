"""The table of task `rollback`: how many texts an engine finds back in."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import WalkVerdict
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Rate, Table
from evaluation.tasks.rollback import NAME

if TYPE_CHECKING:
    from evaluation.core.task import RunRows
    from evaluation.reporting.tables import Cell

_FOUND_BACK: Final = {WalkVerdict.ACCEPTED, WalkVerdict.UNFINISHED}
_NOTE: Final = (
    "Valid texts in which every mask after a rollback of 1, 3 and 8 tokens, or in a "
    "fork and beside it, was that of a straight walk. Left out: texts that the engine "
    "blocks, or that were not walked. not offered: the matcher has no such method."
)


def report(run: RunRows) -> Report:
    """Return how many texts came back, by engine, and the first that did not."""
    verdicts: dict[tuple[str, str], Counter[WalkVerdict]] = defaultdict(Counter)
    lacking: set[tuple[str, str]] = set()
    examples: dict[tuple[str, str], str] = {}
    for row in run.rows():
        for walk in row.walks if row.task == NAME else ():
            place = (row.engine, str(walk.label.get("check", "")))
            verdicts[place][walk.verdict] += 1
            if walk.verdict is WalkVerdict.NOT_RUN and walk.detail:
                lacking.add(place)
            if walk.verdict is WalkVerdict.LIED:
                examples.setdefault(place, f"{row.config}/{row.id}: {walk.detail}")
    rows = tuple(
        (*place, *_cells(counts, offered=place not in lacking), examples.get(place, ""))
        for place, counts in verdicts.items()
    )
    if not rows:
        return Report(tables=())
    columns = ("engine", "method", "same masks", "failed", "first that differs")
    table = Table(
        title="Rollback and fork",
        columns=columns,
        rows=rows,
        note=_NOTE,
        name="rollback",
    )
    return Report(tables=(table,))


def _cells(counts: Counter[WalkVerdict], *, offered: bool) -> tuple[Cell, Cell]:
    same = sum(counts[verdict] for verdict in _FOUND_BACK)
    asked = same + counts[WalkVerdict.LIED] + counts[WalkVerdict.CONTRADICTED]
    failed = counts[WalkVerdict.ENGINE_ERROR]
    if not asked and not failed:
        return None if offered else "not offered", None
    return Rate(same, asked), failed
