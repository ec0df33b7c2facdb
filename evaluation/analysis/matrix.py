"""The outcome of each schema under each engine or model, in runs of a few schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Result
from evaluation.reporting.tables import Table
from evaluation.results.outcomes import (
    Outcome,
    engine_is_wrong,
    outcome_of,
    text_class,
)
from evaluation.tasks.refusal_messages import explain

if TYPE_CHECKING:
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun

#: The table's name.
BY_SCHEMA: Final = "by-schema"
#: The most schemas that have a line each.
_MOST: Final = 20


def schema_matrix(run: RecordedRun, task: str) -> Table | None:
    """Return a line for each schema and a column for each participant.

    None if there are more schemas than a screen has lines.
    """
    counts = [count for (_, name), count in run.row_counts.items() if name == task]
    if not counts or max(counts) > _MOST:
        return None
    findings: dict[str, dict[str, str]] = {}
    engines: dict[str, None] = {}
    for row in run.rows():
        if row.task == task:
            engines[row.engine] = None
            name = f"{row.config}/{row.id}" if row.config else row.id
            findings.setdefault(name, {})[row.engine] = _finding(run, row)
    return Table(
        title="By schema",
        columns=("schema", *engines),
        rows=tuple(
            (name, *(own.get(engine) for engine in engines))
            for name, own in findings.items()
        ),
        note="In brackets the keyword of the first text that is judged wrong, or of "
        "the refusal.",
        name=BY_SCHEMA,
    )


def _finding(run: RecordedRun, row: Row) -> str:
    outcome = outcome_of(row)
    if outcome is Outcome.UNTESTED:
        return "compiles"
    words, keyword = outcome.replace("_", " "), ""
    if outcome is Outcome.NOT_COMPLIANT:
        judged = row.label.get("judgement")
        words = (text_class(row) or words).replace("_", " ")
        keyword = str((judged.get("keyword") if isinstance(judged, dict) else "") or "")
    elif row.result is Result.COMPILE_ERROR:
        name = run.header.names().get(row.engine, row.engine)
        own = run.header.participant(row.engine).refusals
        refusal = explain(name, row.detail, own)
        keyword = min(refusal.keywords, default="") if refusal else ""
    else:
        wrong = next((walk for walk in row.walks if engine_is_wrong(walk)), None)
        keyword = wrong.why.keyword if wrong and wrong.why else ""
    return f"{words} ({keyword})" if keyword else words
