"""Tables of a run of IFStruct."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from evaluation.reporting.tables import BRACKETS, Table
from evaluation.results.suite_tables import compute_share, pass_rates, passed
from evaluation.suites.common import count_table
from evaluation.suites.ifstruct.rows import SLICES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.suite import ScoredResponse, ScoredRun


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own tables."""
    yield pass_rates(run)
    yield _by_choice(run)
    errors = {
        label: Counter(
            str(error)
            for response in side
            for error in _detail(response, "published_errors") or ()
        )
        for label, side in run.counted.items()
    }
    note = (
        "Errors, not responses: one response may have several, and a wrong number of "
        "items counts twice if the schema has it too."
    )
    title = "Errors, as the published summary books them"
    yield count_table(title, "published-errors", "error", errors, note)


def _detail(response: ScoredResponse, name: str) -> Any:  # noqa: ANN401 (any JSON)
    return response.verdict.details.get(name)


def _by_choice(run: ScoredRun) -> Table:
    """Return the rates of each alternative of each choice, in the order of a run."""
    parts: dict[tuple[int, str], dict[str, list[ScoredResponse]]]
    parts = defaultdict(lambda: defaultdict(list))
    for label, side in run.counted.items():
        for response in side:
            slices = _detail(response, "slices") or {}
            for index, choice in enumerate(SLICES):
                parts[index, slices.get(choice, UNKNOWN)][label].append(response)
    rows = (
        (SLICES[index], drawn, label, passed(side), compute_share(side, "structure"))
        for (index, drawn), part in sorted(parts.items())
        for label, side in part.items()
    )
    return Table(
        title="By drawn alternative",
        columns=("choice", "drawn", "model", "passed", "structure"),
        rows=tuple(rows),
        note="structure: wrapper, number of items and every field are right, whatever "
        "stands around the answer. " + BRACKETS,
        name="choices",
    )
