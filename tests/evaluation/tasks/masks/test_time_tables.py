"""Where the time of masks goes, and who meets an engine's limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.core.cases import Result
from evaluation.results.measurements import between_masks, by_schema, measure
from evaluation.results.reader import open_run
from evaluation.tasks.masks.maskbench_files import result_of
from evaluation.tasks.masks.report import report_of
from tests.evaluation.made_runs import accepted, blocked, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Row
    from evaluation.reporting.tables import Table

_MISS = {"kind": "near_miss", "keyword": "maxLength"}


def _table(folder: Path, rows: list[Row], slug: str) -> Table:
    report = report_of(open_run(write_run(folder, rows)))
    return next(each for each in report.tables if each.slug == slug)


def _long_miss(mask_ns: int = 10**6) -> Row:
    miss = replace(blocked(at=999, mask_ns=mask_ns, tokens=1000), label=_MISS)
    return row(walks=(accepted(mask_ns=1_000, tokens=4), miss))


def test_near_misses_of_length_bounds_stand_alone() -> None:
    """They are in no figure of the time between masks."""
    made = _long_miss()
    case = measure(made, None)
    assert between_masks([case]).mean == 2_000
    # MaskBench's files have every mask, as its own have.
    assert result_of(made, "x")["num_tokens"] == 1004


def test_each_schema_counts_once() -> None:
    """However long its texts are, and however many."""
    short, long = accepted(mask_ns=9_000, tokens=2), accepted(mask_ns=999, tokens=998)
    cases = [
        measure(row(walks=(short, long)), None),
        measure(row(walks=(short,)), None),
    ]
    assert by_schema(cases).values.tolist() == [
        (2 * 10_000 + 998 * 1_999) / 1000,
        10_000,
    ]


def test_the_slowest_are_named_first(tmp_path: Path) -> None:
    """Five of each engine; what was never measured is not among them."""
    rows = [
        row(id=f"o{number}", compile_ns=number * 10**6, first_mask_ns=number * 1000)
        for number in range(1, 8)
    ]
    rows.append(
        row(
            id="refused",
            result=Result.COMPILE_ERROR,
            walks=(),
            compile_ns=None,
            first_mask_ns=None,
        )
    )
    slowest = _table(tmp_path, rows, "masks-slowest")
    names = [f"Github_easy/o{number}" for number in (7, 6, 5, 4, 3)]
    assert [cells[1] for cells in slowest.rows] == names
