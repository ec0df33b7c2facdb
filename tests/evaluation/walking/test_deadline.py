"""A deadline is of processor time; the wall clock ends what waits for ever."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from curation.workers.process import Child
from evaluation.core.cases import Result, WalkVerdict
from evaluation.results.measurements import measure_run
from evaluation.results.reader import gaps_of
from evaluation.walking import engine_process
from evaluation.walking import run as walking_run
from evaluation.walking.engine_process import CoreWaits, Deadline
from evaluation.walking.engine_worker import Bounds
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun
    from evaluation.walking.plan import RunTotals
    from evaluation.walking.work import SharedWork

_MS = 1_000_000


class _Clocks:
    """Two clocks that are set by hand."""

    wall = 0
    processor = 0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> _Clocks:
    """Return the clocks that a deadline reads."""
    found = _Clocks()
    monkeypatch.setattr(engine_process, "perf_counter_ns", lambda: found.wall)
    monkeypatch.setattr(engine_process, "process_time_ns", lambda: found.processor)
    return found


def test_time_that_others_used_is_not_the_engines(clocks: _Clocks) -> None:
    """Past a deadline by the wall clock there is what processor time is left."""
    deadline = Deadline(1.0, 4.0)
    clocks.wall, clocks.processor = 3_000 * _MS, 999 * _MS
    assert not deadline.look(clocks.wall)
    clocks.processor = 1_000 * _MS
    assert deadline.look(clocks.wall)
    assert deadline.passed == "not through within 1 s of processor time"
    assert not deadline.by_wall_clock


def test_what_waits_for_ever_is_ended_by_the_wall_clock(clocks: _Clocks) -> None:
    """And that is said."""
    deadline = Deadline(1.0, 4.0)
    clocks.wall = 4_000 * _MS
    assert deadline.look(clocks.wall)
    assert deadline.passed == "not through within 4 s by the wall clock"
    assert deadline.by_wall_clock


def test_no_reading_is_due_before_the_time_can_be_used_up(
    clocks: _Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two cores that is after half of it; the wall clock is never missed."""
    monkeypatch.setattr(engine_process, "_usable_cores", lambda: 2)
    deadline = Deadline(1.0, 4.0)
    assert deadline.next_look == 500 * _MS
    clocks.wall = 3_900 * _MS
    deadline.look(clocks.wall)
    assert deadline.next_look == 4_000 * _MS


def test_readings_are_a_millisecond_apart_at_least(clocks: _Clocks) -> None:
    """Where next to nothing is left, it is not asked for after every mask."""
    deadline = Deadline(1.0, 4.0)
    clocks.processor = 1_000 * _MS - 1
    deadline.look(clocks.wall)
    assert deadline.next_look == _MS


def test_waits_are_those_since_the_last_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """And never negative, whatever the system says."""
    told = iter([b"9 100 1", b"9 130 1", b"9 120 1"])
    waits = CoreWaits()
    monkeypatch.setattr(waits, "_file", 0)
    monkeypatch.setattr(os, "pread", lambda *_: next(told))
    assert [waits.since_last() for _ in range(3)] == [100, 30, 0]


def test_waits_are_counted_where_the_system_does() -> None:
    """Never negative; a thread that sleeps does not wait for its core."""
    waits = CoreWaits()
    first = waits.since_last()
    time.sleep(0.001)
    second = waits.since_last()
    if first is None:
        pytest.skip("this system does not count them")
    assert second is not None
    assert second >= 0


def test_a_row_says_that_the_wall_clock_ended_it(tmp_path: Path) -> None:
    """An engine that sleeps uses no processor time; it is ended, and marked."""
    bounds = Bounds(compile_seconds=0.3, run_seconds=0.3, wall_times=2.0)
    slow = sample("slow-walk", '["x", "x", "x", "x", "x", "x", "x", "x"]')
    request = request_of(tmp_path, [slow, sample("hang-compile", "1")], bounds=bounds)
    _, run = measured(tmp_path, [miniature("troubled")], request)
    rows = {row.id: row for row in run.rows()}
    assert {row.result for row in rows.values()} == {Result.TIMEOUT}
    assert all(row.ended_by_wall_clock for row in rows.values())
    assert "within 0.6 s by the wall clock" in rows["slow-walk"].detail
    assert "within 0.6 s by the wall clock" in rows["hang-compile"].detail


def test_a_walk_that_waited_for_its_core_blames_the_machine(clocks: _Clocks) -> None:
    """Where most of its time without work was that; what sleeps waits for no core."""

    class Waits(CoreWaits):
        def total(self) -> int:
            return waited[-1]

    for waits, machine in (([0, 3_000 * _MS], True), ([0, 100 * _MS], False)):
        clocks.wall, waited = 0, waits[:1]
        deadline = Deadline(1.0, 4.0, Waits())
        waited.append(waits[1])
        clocks.wall = 4_000 * _MS
        assert deadline.look(clocks.wall)
        assert deadline.for_want_of_core is machine


class _Machine:
    """A machine of which the system says how long a process waited for a core."""

    busy = True
    waited = 0.0

    def waiting_seconds(self) -> float:
        """Return more at each call, as long as it is busy."""
        self.waited += 9.0 * self.busy
        return self.waited


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> _Machine:
    """Return the machine on which engines run."""
    found = _Machine()
    monkeypatch.setattr(Child, "waiting_seconds", lambda _: found.waiting_seconds())
    return found


def _hang(folder: Path) -> tuple[RunTotals, RecordedRun]:
    """Run a task with a schema on which one of two engines never ends."""
    bounds = Bounds(compile_seconds=0.2, run_seconds=0.2, wall_times=2.0)
    samples = [sample("hang-compile"), sample("fine", "1")]
    request = request_of(folder, samples, tasks=("masks",), bounds=bounds)
    return measured(folder, [miniature("troubled"), "none"], request)


@pytest.mark.slow
def test_a_time_out_of_a_busy_machine_is_in_no_figure(
    tmp_path: Path, machine: _Machine
) -> None:
    """It stays out of rows, is named, and asked anew by the same command."""
    totals, run = _hang(tmp_path)
    label = run.header.engines[0].engine
    assert totals.undecided == 1
    assert run.undecided == {(label, "masks", "Made", "hang-compile")}
    assert [case.id for case in measure_run(run, "masks")[label]] == ["fine"]
    named = "1 case of task masks with an undecided measurement, in no figure"
    assert any(named in gap for gap in gaps_of(run))
    machine.busy = False
    totals, run = _hang(tmp_path)
    assert (totals.reused, totals.undecided) == (3, 0)
    assert not run.undecided
    assert not run.replaced
    hung = [row.result for row in run.all_rows() if row.id == "hang-compile"]
    assert hung.count(Result.TIMEOUT) == 1


@pytest.mark.slow
def test_what_is_undecided_is_asked_once_more_at_the_end(
    tmp_path: Path, machine: _Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the then quiet machine it never ends either: that is the engine's."""
    ask_again = walking_run._ask_again

    def on_a_quiet_machine(work: SharedWork) -> None:
        assert len(work.undecided) == 1
        machine.busy = False
        ask_again(work)

    monkeypatch.setattr(walking_run, "_ask_again", on_a_quiet_machine)
    totals, run = _hang(tmp_path)
    assert (totals.undecided, totals.ran) == (0, 4)
    assert not run.undecided
    hung = [row.result for row in run.all_rows() if row.id == "hang-compile"]
    assert hung.count(Result.TIMEOUT) == 1


@pytest.mark.slow
def test_a_row_of_used_up_processor_time_is_not_the_wall_clocks(tmp_path: Path) -> None:
    """An engine that computes without end has used its time by itself."""
    bounds = Bounds(compile_seconds=0.3, run_seconds=0.3, wall_times=50.0)
    busy = sample("busy-walk", '["x", "x", "x", "x", "x", "x", "x", "x"]')
    request = request_of(tmp_path, [busy], bounds=bounds)
    _, run = measured(tmp_path, [miniature("troubled")], request)
    (row,) = run.rows()
    assert row.result is Result.TIMEOUT
    assert "of processor time" in row.detail
    assert not row.ended_by_wall_clock


def test_an_engine_that_dies_of_the_warm_up_has_its_rows(tmp_path: Path) -> None:
    """It is asked again without; what it does with the schemas at hand is told."""
    samples = [sample("one", "{}"), sample("two", "[1]")]
    totals, run = measured(tmp_path, [miniature("cold")], request_of(tmp_path, samples))
    assert not totals.unavailable
    assert [row.result for row in run.rows()] == [Result.OK, Result.OK]
    assert {walk.verdict for row in run.rows() for walk in row.walks} == {
        WalkVerdict.ACCEPTED
    }
