"""The tables of task `masks`: whose fault a wrong mask is, and what stands apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result, WalkVerdict
from evaluation.reporting.tables import NOT_RUN, Rate
from evaluation.results.reader import open_run
from evaluation.tasks.masks.report import report_of
from tests.evaluation.made_runs import accepted, blocked, many, row, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.core.cases import Row
    from evaluation.reporting.report import Report
    from evaluation.reporting.tables import Table


def _report(tmp_path: Path, rows: Sequence[Row]) -> Report:
    return report_of(open_run(write_run(tmp_path, rows)))


def _table(report: Report, slug: str) -> Table:
    return next(each for each in report.tables if each.slug == slug)


def test_a_wrong_mask_is_booked_under_its_keyword(tmp_path: Path) -> None:
    """Blocked of those walked; what was not run is in no denominator."""
    enum, length = {"keyword": "enum"}, {"keyword": "maxLength"}
    walks = (
        replace(blocked(), label=enum),
        replace(accepted(valid=False), label=enum),
        replace(blocked(), label=enum, verdict=WalkVerdict.NOT_RUN),
        replace(blocked(), label=length, verdict=WalkVerdict.NOT_RUN),
        replace(blocked(), label={}),
    )
    table = _table(_report(tmp_path, [row(walks=walks)]), "masks-keywords")
    assert set(table.rows) == {("enum", Rate(1, 2, 1.0)), ("(unknown)", Rate(1, 1))}


def test_forced_tokens_are_a_share_of_valid_ones(tmp_path: Path) -> None:
    """An engine that offers none of this has no share, rather than 0."""
    walks = (replace(accepted(tokens=4), forced=3), replace(blocked(), forced=2))
    rows = [row(walks=walks), row(engine="beta 2.0")]
    table = _table(_report(tmp_path, rows), "masks-instances")
    assert [cells[-1] for cells in table.rows] == [Rate.total([Rate(3, 4)]), None]


def test_intervals_take_texts_of_a_schema_for_one(tmp_path: Path) -> None:
    """Wherever texts are counted: as in the table of coverage."""
    near_miss = replace(blocked(), label={"keyword": "enum"})
    other = replace(accepted(), label={"apart": True, "order": 1})
    walks = (accepted(), near_miss, other) * 20
    report = _report(tmp_path, [row(id=f"o{n}", walks=walks) for n in range(3)])
    worths = {
        table.slug: [cell.interval.low for cells in table.rows for cell in cells
                     if isinstance(cell, Rate) and cell.of == 60 and cell.interval]
        for table in report.tables
    }  # fmt: skip
    low = Rate(3, 3).interval
    assert low is not None
    for slug in ("coverage", "masks-keywords"):
        assert worths[slug]
        assert worths[slug] == pytest.approx([low.low] * len(worths[slug]))


def test_other_orders_stand_apart(tmp_path: Path) -> None:
    """They have a column, and change nothing else."""
    plain = _report(tmp_path / "a", [row(walks=(accepted(),))])
    other = replace(blocked(valid=True), label={"apart": True, "order": 1})
    mixed = _report(tmp_path / "b", [row(walks=(accepted(), other))])
    column = _table(plain, "coverage").columns.index("orders accepted")
    for each in plain.tables:
        rows = _table(mixed, each.slug).rows
        if each.slug == "coverage":
            assert [cells[column] for cells in each.rows] == [NOT_RUN]
            assert [cells[column] for cells in rows] == [Rate(0, 1)]
            rows = tuple(
                (*cells[:column], NOT_RUN, *cells[column + 1 :]) for cells in rows
            )
        assert rows == each.rows


def test_every_unit_has_one_outcome(tmp_path: Path) -> None:
    """Outcomes add up to the cases, and what one engine was not asked is not run."""
    rows = many("alpha 1.0", 40) + many("beta 2.0", 25)
    outcomes = _table(_report(tmp_path, rows), "outcomes")
    for cells in outcomes.rows:
        total, *counts, not_run = [each for each in cells if isinstance(each, int)]
        assert sum(counts) == total
        assert total + not_run == 40


def test_coverage_is_told_by_config(tmp_path: Path) -> None:
    """A line for each config and engine; one config alone needs no such table."""
    rows = [row(), row(config="Snowplow"), row(config="Snowplow", engine="beta 2.0")]
    table = _table(_report(tmp_path / "a", rows), "coverage-by-config")
    assert [cells[:2] for cells in table.rows] == [
        ("Github_easy", "alpha 1.0"),
        ("Snowplow", "alpha 1.0"),
        ("Snowplow", "beta 2.0"),
    ]
    alone = _report(tmp_path / "b", [row()])
    assert "coverage-by-config" not in {each.slug for each in alone.tables}


def test_other_tasks_rows_are_left_alone(tmp_path: Path) -> None:
    """A run of another task has no table here."""
    rows = [row(task="probe", result=Result.COMPILE_ERROR, walks=())]
    assert _report(tmp_path, rows).tables == ()
