"""Engines take turns, a deadline ends what lasts too long, answers become rows."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import csbdata
from curation.system.errors import BadUsage
from curation.workers.limits import Ending, ProcessResult
from curation.workers.process import Child
from evaluation.core.cases import Bounds, Case, InstanceWalk, Result, WalkVerdict
from evaluation.results.reader import gaps_of
from evaluation.walking import engine_process
from evaluation.walking.engine_process import CoreWaits, Deadline, engine_warnings
from evaluation.walking.engine_worker import PendingCase, build_row
from evaluation.walking.run import _Work
from evaluation.walking.walk_session import refusal_reason
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun
    from evaluation.walking.run import RunTotals


_SAMPLES = [sample(f"o{number}", "{}") for number in range(6)]
_ENGINES = [miniature("accept_all"), miniature("refuse_all")]


def _written(folder: Path) -> list[tuple[str, str, int]]:
    """Return who measured which case for which time, as the lines were written."""
    (path,) = folder.glob("attempts.jsonl")
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
    assert Counter(run.attempts("masks")["repetition"]) == {0: 12, 1: 12}


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    """In the middle of a round: what has its row is not asked again."""
    request = request_of(tmp_path, _SAMPLES, repeats=2)
    _, run = measured(tmp_path, _ENGINES, request)
    whole = _written(run.folder)
    (path,) = run.folder.glob("attempts.jsonl")
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
    asked = run.attempts("masks").select("id", "repetition").rows()
    assert asked == [(f"o{number}", time) for number in range(6) for time in (0, 1)]


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


@pytest.mark.parametrize(
    ("wall", "processor", "passed"),
    [
        (3_000, 999, ""),
        (3_000, 1_000, "not finished within 1 s of processor time"),
        (4_000, 0, "not finished within 4 s by the wall clock"),
    ],
)
def test_time_that_others_used_is_not_the_engines(
    clocks: _Clocks, wall: int, processor: int, passed: str
) -> None:
    """Processor time decides; what waits for ever is ended by the wall clock."""
    deadline = Deadline(1.0, 4.0)
    clocks.wall, clocks.processor = wall * _MS, processor * _MS
    assert deadline.look(clocks.wall) is bool(passed)
    assert deadline.passed == passed
    assert deadline.by_wall_clock is ("wall" in passed)


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
    bounds = Bounds(compile_seconds=0.5, run_seconds=0.5, wall_times=6.0)
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
    assert [*run.attempts("masks").filter(engine=label)["id"]] == ["fine"]
    named = "1 case of task masks with an undecided measurement, in no figure"
    assert any(named in gap for gap in gaps_of(run))
    machine.busy = False
    totals, run = _hang(tmp_path)
    assert (totals.reused, totals.undecided) == (3, 0)
    assert not run.undecided
    hung = run.attempts("masks").filter(id="hang-compile")["outcome"].to_list()
    assert hung.count("timeout") == 1


@pytest.mark.slow
def test_what_is_undecided_is_asked_once_more_at_the_end(
    tmp_path: Path, machine: _Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the then quiet machine it never ends either: that is the engine's."""
    ask_again = _Work.ask_again

    def on_a_quiet_machine(work: _Work) -> None:
        assert len(work._undecided) == 1
        machine.busy = False
        ask_again(work)

    monkeypatch.setattr(_Work, "ask_again", on_a_quiet_machine)
    totals, run = _hang(tmp_path)
    assert (totals.undecided, totals.ran) == (0, 4)
    assert not run.undecided
    hung = run.attempts("masks").filter(id="hang-compile")["outcome"].to_list()
    assert hung.count("timeout") == 1


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


_CASE = Case(
    task="masks",
    id="one",
    config="Made",
    schema="{}",
    walks=(InstanceWalk(text="1", valid=True), InstanceWalk(text="2", valid=False)),
)
_COMPILED: dict[str, Json] = {"compile_ns": 7, "warnings": ["w"], "printed": "p"}
_WALKED: dict[str, Json] = {
    "walks": [{"verdict": "accepted", "mask_ns": [1, 2], "commit_ns": [3]}],
    "first_mask_ns": 9,
    "quiet": True,
    "rss_bytes": 11,
}


def _row(*answers: Json, end: ProcessResult | None = None) -> Row:
    pending = PendingCase(_CASE, [[5, 6], [7]], "f", answers=[*answers])
    return build_row("alpha 1.0", pending, end)


def test_both_answers_make_a_row() -> None:
    """Times, warnings and walks are those of the answers."""
    row = _row(_COMPILED, _WALKED)
    assert (row.result, row.phase) == (Result.OK, "")
    assert (row.compile_ns, row.first_mask_ns, row.rss_bytes) == (7, 9, 11)
    assert row.warnings == ("w", "p")
    assert row.walks[0].mask_ns == (1, 2)
    assert row.walks[0].tokens == 2


def test_a_walk_without_an_answer_was_not_run() -> None:
    """The worker ended, or its time was up, before it."""
    assert _row(_COMPILED, _WALKED).walks[1].verdict is WalkVerdict.NOT_RUN


def test_an_end_is_the_result() -> None:
    """Where the process ended, in the words of whoever saw it."""
    end = ProcessResult(ending=Ending.CRASH, detail="killed by SIGSEGV")
    row = _row(_COMPILED, None, end=end)
    assert (row.result, row.phase) == (Result.CRASH, "walk")
    assert row.detail == "killed by SIGSEGV"


@pytest.mark.parametrize(
    "answers",
    [
        ([1],),
        ({"compile_ns": -1},),
        ({"compile_ns": True},),
        ({"compile_ns": 1 << 70},),
        ({"refusal": 3},),
        (_COMPILED, {"walks": [{"verdict": "accepted", "mask_ns": [1.5]}]}),
        (_COMPILED, {"walks": [{"verdict": "perhaps"}]}),
        (_COMPILED, {"walks": [{"at": 1}]}),
        (_COMPILED, {"walks": {}}),
    ],
)
def test_what_is_no_answer_is_a_protocol_error(answers: tuple[Json, ...]) -> None:
    """An engine shares the worker's process: what it says is checked."""
    row = _row(*answers)
    assert row.result is Result.PROTOCOL_ERROR
    assert row.phase == ("walk" if len(answers) > 1 else "compile")
    assert row.detail
    assert {walk.verdict for walk in row.walks} == {WalkVerdict.NOT_RUN}


def test_what_an_engine_says_can_be_sent() -> None:
    """Half of a surrogate pair is sent as its escape: no JSON of ours holds one."""
    odd: Any = SimpleNamespace(warnings=lambda _: ["\ud800"], reason=lambda: "\udfff")
    assert engine_warnings(odd, None) == ["\\ud800"]
    assert refusal_reason(odd) == ": \\udfff"
