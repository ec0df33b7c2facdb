"""Engines take turns: each case is put to all of them before the next one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import pytest

import csbdata
from curation.system.errors import BadUsage
from evaluation.core.cases import Result
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

_SAMPLES = [sample(f"o{number}", "{}") for number in range(6)]
_ENGINES = [miniature("accept_all"), miniature("refuse_all")]


def _written(folder: Path) -> list[tuple[str, str, int]]:
    """Return who measured which case for which time, as the lines were written."""
    (path,) = folder.glob("rows-*.jsonl")
    rows = map(orjson.loads, path.read_bytes().splitlines())
    return [(row["id"], row["engine"], row["repetition"]) for row in rows]


def test_each_case_is_put_to_all_before_the_next(tmp_path: Path) -> None:
    """Both engines, twice each; the order is not the same for all cases."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    totals, run = measured(tmp_path, _ENGINES, request)
    rounds = [_written(run.folder)[at : at + 4] for at in range(0, 24, 4)]
    for written in rounds:
        assert len({case for case, _, _ in written}) == 1
        assert len({(engine, time) for _, engine, time in written}) == 4
    orders = {tuple((engine, time) for _, engine, time in one) for one in rounds}
    assert len(orders) > 1
    assert totals.ran == run.header.rows == len(run) == 24
    assert len(list(run.rows())) == 12
    assert Counter(row.repetition for row in run.all_rows()) == {0: 12, 1: 12}


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    """In the middle of a round: what has its row is not asked again."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    _, run = measured(tmp_path, _ENGINES, request)
    whole = _written(run.folder)
    (path,) = run.folder.glob("rows-*.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:9]))
    totals, again = measured(tmp_path, _ENGINES, request)
    assert (totals.reused, totals.ran) == (9, 15)
    assert _written(again.folder) == whole


def test_an_engine_that_does_not_start_leaves_its_turns_to_others(
    tmp_path: Path,
) -> None:
    """It is named, and the others have every row."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    engines = [miniature("broken"), _ENGINES[0]]
    totals, run = measured(tmp_path, engines, request)
    assert len(totals.unavailable) == 1
    assert len(run) == 12
    assert totals.ran == 12


def test_it_leaves_them_on_every_core(tmp_path: Path) -> None:
    """No other engine loses a turn on a core where it was to be asked, too."""
    request = request_of(tmp_path, _SAMPLES, repeats=2, jobs=2)
    _, run = measured(tmp_path, [miniature("broken"), _ENGINES[0]], request)
    assert Counter((row.id, row.repetition) for row in run.all_rows()) == {
        (f"o{number}", repetition): 1 for number in range(6) for repetition in (0, 1)
    }


def test_one_that_dies_has_its_row_and_its_next_turn(tmp_path: Path) -> None:
    """Its process is started again, and the others' turns are not moved by it."""
    samples = [sample("crash", "{}"), sample("well", "{}")]
    request = request_of(tmp_path, samples)
    _, run = measured(tmp_path, [miniature("crash"), _ENGINES[0]], request)
    results = [(row.id, row.result) for row in run.rows()]
    assert len(results) == 4
    assert results.count(("crash", Result.CRASH)) == 1
    assert results.count(("well", Result.OK)) == 2


def test_repeats_are_for_tasks_that_take_times(tmp_path: Path) -> None:
    """Elsewhere they would measure nothing."""
    request = request_of(tmp_path, _SAMPLES, tasks=("probe",), repeats=2)
    with pytest.raises(BadUsage, match="times of probe are no results"):
        csbdata.run(replace(request, engines=_ENGINES))
