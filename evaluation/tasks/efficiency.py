"""Task `efficiency`: times of the texts of suite coverage."""

from __future__ import annotations

from curation.system.registry import imported_late
from evaluation.core.task import Task, TaskInput

TASK = Task(
    name="efficiency",
    summary="The times of the same texts: GCT, TTFT, TPOT, TGT (Tables 2 and 12).",
    timed=True,
    input=TaskInput.MODEL,
    tables=imported_late("evaluation.suites.coverage.efficiency", "tables"),
    reads="coverage",
)
