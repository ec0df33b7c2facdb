"""Task `rollback`: a matcher that does not find back is told from one that does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.core.cases import Result, WalkVerdict
from evaluation.reporting.tables import Rate
from evaluation.results.measurements import measure
from evaluation.results.reader import open_run
from evaluation.tasks.rollback.task import TASK, passes
from tests.evaluation.made_runs import accepted, row, write_run
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

_TEXT = '{"a": [1, 2, 3], "b": "some text"}'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    """A run over engines that turn rightly, wrongly, and not at all."""
    folder: Path = tmp_path_factory.mktemp("rollback")
    titles = ("right", "short", "shared", "cannot", "raises")
    samples = [sample(title, _TEXT, "[]") for title in titles]
    request = request_of(folder, samples, tasks=("rollback",))
    engines = [miniature("turning"), miniature("accept_all")]
    _, opened = measured(folder, engines, request)
    return opened


def _of(run: RecordedRun, title: str) -> dict[str, tuple[WalkVerdict, str]]:
    """Return what came of the long text of one schema, by check."""
    (row,) = (row for row in run.rows() if row.id == title and "turning" in row.engine)
    return {
        str(walk.label["check"]): (walk.verdict, walk.detail)
        for walk in row.walks
        if walk.tokens > 8
    }


def test_a_matcher_that_finds_back_passes(run: RecordedRun) -> None:
    """Both ways, in long texts and short ones."""
    rows = [row for row in run.rows() if row.id == "right"]
    assert [row.result for row in rows] == [Result.OK, Result.OK]
    assert all(map(passes, rows))
    found = _of(run, "right")
    assert {check: verdict for check, (verdict, _) in found.items()} == {
        "rollback": WalkVerdict.ACCEPTED,
        "fork": WalkVerdict.ACCEPTED,
    }


def test_a_rollback_that_goes_too_short_is_found(run: RecordedRun) -> None:
    """Only in three tokens or more, where the miniature is wrong; the fork is right."""
    found = _of(run, "short")
    verdict, detail = found["rollback"]
    assert verdict is WalkVerdict.LIED
    assert "after a rollback of 3 at token 8" in detail
    assert "the mask differs in" in detail
    assert found["fork"][0] is WalkVerdict.ACCEPTED


def test_a_fork_that_shares_its_state_is_found(run: RecordedRun) -> None:
    """The matcher that was forked moves with the fork."""
    verdict, detail = _of(run, "shared")["fork"]
    assert verdict is WalkVerdict.LIED
    assert "of the matcher that was forked" in detail


def test_one_that_cannot_or_fails_says_so(run: RecordedRun) -> None:
    """False of a method that it offers is a lie; an exception is an engine's error."""
    verdict, detail = _of(run, "cannot")["rollback"]
    assert (verdict, "it says that it cannot" in detail) == (WalkVerdict.LIED, True)
    verdict, detail = _of(run, "raises")["rollback"]
    assert (verdict, detail) == (WalkVerdict.ENGINE_ERROR, "RuntimeError: no history")


def test_what_does_not_find_back_does_not_pass(run: RecordedRun) -> None:
    """Neither what lies nor what fails; what offers no method does."""
    passed = {row.id: passes(row) for row in run.rows() if "turning" in row.engine}
    assert passed == {
        "right": True,
        "short": False,
        "shared": False,
        "cannot": False,
        "raises": False,
    }
    assert all(passes(row) for row in run.rows() if "accept_all" in row.engine)


def test_a_contradicted_text_has_not_found_back(tmp_path: Path) -> None:
    """It counts in the denominator, and the case does not pass."""
    walk = replace(accepted(), label={"check": "rollback"})
    wrong = replace(walk, verdict=WalkVerdict.CONTRADICTED)
    made = row(task="rollback", walks=(walk, wrong))
    assert not passes(made)
    (table,) = TASK.report(open_run(write_run(tmp_path / "run", [made]))).tables
    assert table.rows[0][2] == Rate(1, 2)


def test_the_table_tells_each_method_apart(run: RecordedRun) -> None:
    """With its denominator; what an engine has no method for is not offered."""
    (table,) = TASK.report(run).tables
    cells = {(str(row[0]).split()[0], row[1]): row[2:4] for row in table.rows}
    assert cells["turning", "rollback"] == (Rate(5, 8), 2)
    assert cells["turning", "fork"] == (Rate(9, 10), 0)
    assert cells["accept_all", "rollback"] == ("not offered", None)
    assert cells["accept_all", "fork"] == ("not offered", None)


def test_a_kernel_is_timed_where_there_is_one(run: RecordedRun) -> None:
    """Of the first schema of a process; of all others there is no time, and not 0."""
    taken = [(row.engine.split()[0], measure(row, None).apply_ns) for row in run.rows()]
    timed = [engine for engine, ns in taken if ns is not None]
    assert timed == ["turning"]
    assert all(ns is None or ns > 0 for _, ns in taken)
