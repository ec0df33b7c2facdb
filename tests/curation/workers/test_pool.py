"""Work in children: every way of dying is an outcome, and the next unit goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest

from curation.system.errors import TemporarilyUnavailable
from curation.system.threads import within
from curation.workers import pool as pool_module
from curation.workers import process as process_module
from curation.workers.limits import Ending, Limits, ProcessResult
from curation.workers.pool import BatchResult, Pool
from curation.workers.process import Program
from curation.workers.worker import Worker, WorkerDidNotStart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.core.json_types import UntypedJson


PROGRAM = Program(file=Path(__file__).with_name("miniature_worker.py"))
#: Seconds after which a process that should be gone counts as one that stays.
PATIENCE = 30.0
LIMITS = Limits(seconds=30, memory_mb=256, answer_bytes=64 * 2**20)


@pytest.fixture
def worker() -> Iterator[Worker]:
    """One worker with generous limits."""
    with Worker(PROGRAM, LIMITS) as one:
        yield one


def _ends(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def _run(
    batches: Iterable[Sequence[UntypedJson]], limits: Limits = LIMITS, jobs: int = 2
) -> list[BatchResult]:
    with Pool(PROGRAM, jobs=jobs, limits=limits) as pool:
        return sorted(pool.run_batches(batches), key=lambda each: each.index)


@pytest.mark.parametrize(
    "value", [None, True, 0, -1.5, "é\n\0", [1, [2]], {"a": {"b": None}}]
)
def test_it_answers_what_was_asked(worker: Worker, value: UntypedJson) -> None:
    """JSON values go both ways unchanged."""
    outcome = worker.ask(["echo", value])
    assert (outcome.ending, outcome.answer) == (Ending.OK, value)


def test_a_worker_is_told_its_setup_once() -> None:
    """The set-up value reaches the start function."""
    with Worker(Program(file=PROGRAM.file, setup={"rules": "clean"})) as one:
        assert one.ask(["setup", None]).answer == {"rules": "clean"}


@pytest.mark.parametrize("megabytes", [1, 12])
def test_large_messages_go_both_ways_without_deadlock(
    worker: Worker, megabytes: int
) -> None:
    """What is larger than any pipe is carried whole."""
    text = "x" * (megabytes * 2**20)
    assert worker.ask(["echo", text]).answer == text


@pytest.mark.parametrize(
    ("unit", "ending", "detail"),
    [
        (["die", "SIGSEGV"], Ending.CRASH, "killed by SIGSEGV"),
        (["die", "SIGABRT"], Ending.CRASH, "killed by SIGABRT"),
        (["die", "SIGBUS"], Ending.CRASH, "killed by SIGBUS"),
        (["die", "SIGKILL"], Ending.OUT_OF_MEMORY, "killed by SIGKILL"),
        (["abort_for_memory", None], Ending.OUT_OF_MEMORY, "killed by SIGABRT"),
        (["leave", 7], Ending.CRASH, "ended with status 7"),
        (["leave", 0], Ending.CRASH, "ended with status 0"),
        (["half", None], Ending.CRASH, "20 bytes into one"),
        (["hold", 512], Ending.OUT_OF_MEMORY, "MemoryError"),
        (["hog", None], Ending.OUT_OF_MEMORY, "MemoryError"),
        (["fail", "on purpose"], Ending.ERROR, "ValueError: on purpose"),
        (["not_json", None], Ending.ERROR, "ValueError"),
        (["inject", "not json\n"], Ending.PROTOCOL, "not json"),
        (["inject", "[1, 2]\n"], Ending.PROTOCOL, "not an answer"),
        (["inject", '{"request": 5, "answer": 1}\n'], Ending.PROTOCOL, "not an answer"),
        (["inject", '{"ready": true}\n'], Ending.PROTOCOL, "not an answer"),
        (["close_channel", None], Ending.PROTOCOL, "closed its pipe"),
        (["flood", 80], Ending.PROTOCOL, "over 67,108,864 bytes"),
    ],
)
def test_a_death_is_an_outcome_and_the_next_unit_goes_on(
    worker: Worker, unit: UntypedJson, ending: Ending, detail: str
) -> None:
    """Whatever a unit does to its process, the one behind it is answered."""
    outcome = worker.ask(unit)
    assert (outcome.ending, outcome.answer) == (ending, None)
    assert detail in outcome.detail
    assert worker.ask(["echo", "alive"]).answer == "alive"


@pytest.mark.parametrize("unit", [["backtrack", 60], ["stubborn", None]])
def test_a_hang_is_ended_from_outside(worker: Worker, unit: UntypedJson) -> None:
    """A native loop, or one that ignores SIGTERM, is killed at the deadline."""
    outcome = within(PATIENCE, lambda: worker.ask(unit, seconds=0.5))
    assert outcome.ending is Ending.TIMEOUT
    assert outcome.detail == "no answer within 0.5 s"
    assert worker.ask(["echo", 1]).answer == 1


def test_memory_that_no_limit_of_the_system_counts_is_seen_by_sampling() -> None:
    """Resident memory over the limit ends the process."""
    with Worker(PROGRAM, Limits(seconds=60, memory_mb=64)) as one:
        outcome = one.ask(["map_shared", 200])
    assert outcome.ending is Ending.OUT_OF_MEMORY
    assert "64 MiB" in outcome.detail


def test_the_memory_of_a_start_does_not_count() -> None:
    """An interpreter alone takes more than 4 MiB, and may."""
    with Worker(PROGRAM, Limits(seconds=60, memory_mb=4)) as one:
        assert one.ask(["nap", 0.5]).answer == "awake"


def test_noise_cannot_break_the_protocol(worker: Worker) -> None:
    """Standard output leads elsewhere, even by its descriptor; a lie is noise."""
    assert worker.ask(["babble", 50_000]).answer == "answered"


def test_the_end_of_the_noise_is_kept_with_a_death(worker: Worker) -> None:
    """What a dying library says is part of the outcome, and bounded."""
    worker.ask(["babble", 10_000])
    outcome = worker.ask(["abort_for_memory", None])
    assert outcome.stderr.endswith("memory allocation of 4096 bytes failed\n")
    assert len(outcome.stderr) <= 8192


def test_an_error_leaves_the_process_alive(worker: Worker) -> None:
    """An exception of the function costs no new process."""
    before = worker.ask(["identity", None]).answer
    assert worker.ask(["fail", "x"]).ending is Ending.ERROR
    assert worker.ask(["identity", None]).answer == before


def test_limits_are_set_in_the_child(worker: Worker) -> None:
    """No core files, bounded files and descriptors; memory counts from the start."""
    limits = worker.ask(["limits", None]).answer
    assert limits["RLIMIT_CORE"] == 0
    assert limits["RLIMIT_FSIZE"] == LIMITS.file_mb * 2**20
    assert limits["RLIMIT_NOFILE"] == LIMITS.open_files
    assert limits["RLIMIT_DATA"] >= LIMITS.memory_mb * 2**20


def test_a_file_over_the_limit_is_an_error(tmp_path: Path) -> None:
    """A worker cannot fill the disk."""
    with Worker(PROGRAM, Limits(file_mb=1)) as one:
        outcome = one.ask(["write_file", [str(tmp_path / "big"), 3 * 2**20]])
    assert outcome.ending is Ending.ERROR
    assert "File too large" in outcome.detail


def test_a_worker_sees_nothing_of_our_environment_but_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F60: tokens stay here; the locale and the time zone are always the same."""
    monkeypatch.setenv("HF_TOKEN", "planted")
    monkeypatch.setenv("PYTHONINTMAXSTRDIGITS", "0")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONHASHSEED", "4711")
    program = Program(file=PROGRAM.file, environment={"GIVEN": "yes"})
    with Worker(program) as one:
        seen = one.ask(["environment", None]).answer
        folders = one.ask(["paths", None]).answer
    assert "planted" not in str(seen)
    assert "PYTHONINTMAXSTRDIGITS" not in seen
    assert (seen["TZ"], seen["LC_ALL"], seen["GIVEN"]) == ("UTC", "C.UTF-8", "yes")
    assert seen["PYTHONHASHSEED"] == "0"
    assert str(PROGRAM.file.parent) not in folders


@pytest.mark.parametrize(
    ("setup", "words"), [("raise", "RuntimeError: cannot start"), ("die", "SIGABRT")]
)
def test_a_worker_that_cannot_start_is_a_fault(setup: str, words: str) -> None:
    """It is told with the reason, after a few attempts, and never tried forever."""
    program = Program(file=PROGRAM.file, setup=setup)
    with Worker(program, LIMITS) as one, pytest.raises(WorkerDidNotStart, match=words):
        one.ask(["echo", 1])
    with (
        Pool(program, jobs=2, limits=LIMITS) as pool,
        pytest.raises(WorkerDidNotStart, match=words),
    ):
        list(pool.run_batches([[["echo", 1]]]))


def test_a_worker_that_hangs_at_its_start_is_a_fault() -> None:
    """The start has a deadline of its own; the same command may succeed later."""
    program = Program(file=PROGRAM.file, setup="hang")
    limits = Limits(start_seconds=0.3)
    with (
        Worker(program, limits) as one,
        pytest.raises(WorkerDidNotStart, match=r"0\.3 s: run") as caught,
    ):
        one.start()
    assert caught.value.exit_code == TemporarilyUnavailable.exit_code


def test_a_worker_that_is_no_worker_is_a_fault(tmp_path: Path) -> None:
    """A file that does not speak the protocol is told by what it said, thrice."""
    stranger, starts = tmp_path / "stranger.py", tmp_path / "starts"
    note = f"open({str(starts)!r}, 'a').write('x')"
    stranger.write_text(f"{note}; print('hello'); raise SystemExit(4)\n")
    with (
        Worker(Program(file=stranger)) as one,
        pytest.raises(WorkerDidNotStart, match=r"status 4.*hello"),
    ):
        one.start()
    assert starts.read_text() == "xxx"


@pytest.mark.slow
def test_only_the_units_that_kill_are_blamed() -> None:
    """Everything before and behind them in their batches is answered."""
    batches: list[list[UntypedJson]] = [
        [["echo", [row, n]] for n in range(8)] for row in range(6)
    ]
    batches[1][0] = ["die", "SIGSEGV"]
    batches[2][3] = ["hog", None]
    batches[2][4] = ["die", "SIGABRT"]
    batches[4][7] = ["leave", 1]
    expected = {
        (1, 0): Ending.CRASH,
        (2, 3): Ending.OUT_OF_MEMORY,
        (2, 4): Ending.CRASH,
        (4, 7): Ending.CRASH,
    }
    for result in _run(batches):
        for n, outcome in enumerate(result.results):
            place = (result.index, n)
            assert outcome.ending is expected.get(place, Ending.OK)
            assert outcome.answer == (None if place in expected else [*place])


def test_a_hang_in_a_batch_costs_its_unit_alone() -> None:
    """The deadline counts for each unit, in processor time if a busy machine may be."""
    limits = Limits(seconds=0.2, wall_times=500.0, memory_mb=256)
    units: list[UntypedJson] = [["echo", 1], ["backtrack", 60], ["echo", 2]]
    (result,) = _run([units], limits, jobs=1)
    endings = [each.ending for each in result.results]
    assert endings == [Ending.OK, Ending.TIMEOUT, Ending.OK]
    assert result.results[1].seconds < PATIENCE
    with Worker(PROGRAM, Limits(seconds=0.2, wall_times=2.0)) as worker:
        outcome = worker.ask(["nap", 60])
    assert "no answer within 0.4 s by the wall clock" in outcome.detail


def test_a_death_by_accident_is_tried_once_more(tmp_path: Path) -> None:
    """A unit is blamed only if a fresh process dies of it too."""
    flag = str(tmp_path / "flag")
    (result,) = _run([[["echo", 0], ["once", flag], ["echo", 2]]])
    assert [each.answer for each in result.results] == [0, "second", 2]
    tries = tmp_path / "tries"
    (result,) = _run([[["die_counted", str(tries)]]])
    assert result.results[0].ending is Ending.CRASH
    assert tries.read_bytes() == b".."


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    """One, two and three workers give equal results."""
    batches: list[list[UntypedJson]] = [
        [["echo", n], ["fail", str(n)]] for n in range(12)
    ]
    batches[5].append(["die", "SIGSEGV"])
    seen = [
        [
            [(each.ending, each.answer, each.detail) for each in result.results]
            for result in _run(batches, jobs=jobs)
        ]
        for jobs in (1, 2, 3)
    ]
    assert seen[0] == seen[1] == seen[2]


def test_batches_are_taken_as_workers_come_free() -> None:
    """A long list is never read ahead of the work."""
    taken: list[int] = []

    def batches() -> Iterator[list[UntypedJson]]:
        for n in range(50):
            taken.append(n)
            yield [["echo", n]]

    with Pool(PROGRAM, jobs=2, limits=LIMITS) as pool:
        for count, _ in enumerate(pool.run_batches(batches()), start=1):
            assert len(taken) <= count + 2


def test_a_worker_goes_on_before_the_caller_takes_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next batch is handed over before; what a slow caller takes is not its time.

    More than a pipe holds of a request waits until the caller comes back.
    """
    clock = time.monotonic
    read: list[int] = []

    def batches() -> Iterator[list[UntypedJson]]:
        for number in range(4):
            read.append(number)
            yield [["echo", "x" * 2**22]]

    with Pool(PROGRAM, jobs=1, limits=LIMITS, attempts=1) as pool:
        results = pool.run_batches(batches())
        assert next(results).index == 0
        assert read == [0, 1]
        monkeypatch.setattr(time, "monotonic", lambda: clock() + 2 * LIMITS.seconds)
        endings = [result.results[0].ending for result in results]
    assert endings == 3 * [Ending.OK]


def test_a_worker_is_at_work_while_the_next_batch_is_read(tmp_path: Path) -> None:
    """What it has to do reaches it at once, however long its caller reads."""
    flag = tmp_path / "flag"

    def batches() -> Iterator[list[UntypedJson]]:
        yield [["once", str(flag)]]
        deadline = time.monotonic() + PATIENCE
        while not flag.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert flag.exists()

    assert len(_run(batches())) == 1


def test_workers_start_when_the_block_is_entered() -> None:
    """They get ready while the caller does something else."""
    before = {child.pid for child in psutil.Process().children()}
    with Pool(PROGRAM, jobs=2, limits=LIMITS) as pool:
        own = {child.pid for child in psutil.Process().children()} - before
        assert len(own) == 2
        assert [done.index for done in pool.run_batches([[["echo", 1]]])] == [0]


def test_no_batches_and_empty_batches_are_no_special_case() -> None:
    """Nothing in, nothing out; an empty batch has an empty result."""
    assert _run([]) == []
    results = _run([[], [["echo", 1]], []])
    assert [len(each.results) for each in results] == [0, 1, 0]


def test_workers_are_replaced_after_so_many_batches() -> None:
    """A leak cannot grow for ever."""
    limits = Limits(recycle_after=2)
    results = _run([[["identity", None]]] * 6, limits, jobs=1)
    assert len({each.results[0].answer for each in results}) == 3


def test_memory_of_parent_and_children_is_reported() -> None:
    """The pool knows the most memory that was seen."""
    with Pool(PROGRAM, jobs=1, limits=LIMITS) as pool:
        list(pool.run_batches([[["echo", 1]]]))
        assert pool.peak_rss_mb > 5


def test_memory_is_looked_at_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not with every answer."""
    looked: list[float] = []

    def look() -> psutil.Process:
        looked.append(time.monotonic())
        return psutil.Process()

    monkeypatch.setattr(pool_module, "psutil", SimpleNamespace(Process=look))
    _run([[["echo", number]] for number in range(100)], jobs=1)
    assert len(looked) <= 10 * (looked[-1] - looked[0]) + 1


def test_leaving_kills_all_children(worker: Worker) -> None:
    """No process outlives the pool, however a run ends."""
    with Pool(PROGRAM, jobs=2, limits=LIMITS) as pool:
        results = pool.run_batches([[["identity", None]], [["stubborn", None]]])
        pid = next(results).results[0].answer
    assert _ends(pid)
    identity = worker.ask(["identity", None]).answer
    worker.close()
    assert _ends(identity)


def test_an_idle_worker_may_finish_by_itself(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands end before any signal comes: what it does at its end is done."""
    monkeypatch.setattr(process_module, "_GRACE", PATIENCE)
    worker.ask(["say_goodbye", str(tmp_path / "goodbye")])
    worker.close()
    assert (tmp_path / "goodbye").exists()


def test_a_process_that_is_gone_uses_nothing(worker: Worker) -> None:
    """Its memory and its time are 0, and no fault."""
    worker.start()
    child = worker.child
    assert child is not None
    assert child.rss_bytes() > 0
    worker.kill()
    used = (child.rss_bytes(), child.processor_seconds(), child.waiting_seconds())
    assert used == (0, 0, 0)


def test_a_killed_worker_takes_its_own_children_along(worker: Worker) -> None:
    """The whole process group ends at the deadline."""
    outcome = within(PATIENCE, lambda: worker.ask(["grandchild", None], seconds=1.0))
    assert outcome.ending is Ending.TIMEOUT
    assert _ends(int(outcome.stderr.split()[-1]))


PARENT = f"""
import sys
from pathlib import Path
from curation.workers.pool import Pool, Program
program = Program(file=Path({str(PROGRAM.file)!r}))
with Pool(program, jobs=2) as pool:
    hang = [["stubborn", None]]
    units = [[["identity", None]], [["identity", None]], hang, hang]
    for result in pool.run_batches(units):
        print(result.results[0].answer, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_children_die_with_their_parent(number: signal.Signals) -> None:
    """Ctrl-C, a kind end and a hard one leave no process behind."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=PROGRAM.file.parent.parent,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROGRAM.file.parent.parent)},
    ) as parent:
        assert parent.stdout is not None
        pids = {int(parent.stdout.readline()) for _ in range(2)}
        parent.send_signal(number)
        parent.wait(PATIENCE)
    assert all(_ends(pid) for pid in pids)


@pytest.mark.parametrize(
    ("unit", "number", "was_killed"),
    [
        (["die", "SIGKILL"], signal.SIGKILL, True),
        (["die", "SIGSEGV"], signal.SIGSEGV, False),
        (["leave", 7], None, False),
        # Killed for its deadline, and not by somebody else.
        (["stubborn", None], None, False),
    ],
)
def test_the_signal_is_a_number(
    unit: list[str | int | None],
    number: int | None,
    was_killed: bool,  # noqa: FBT001 (a case of the claim)
) -> None:
    """Who asks whether somebody killed the worker need not read a sentence."""
    with Worker(PROGRAM, Limits(seconds=30)) as worker:
        result = worker.ask(unit, seconds=0.3 if unit[0] == "stubborn" else 30)
    assert (result.signal, result.was_killed) == (number, was_killed)
    assert (result.ending is Ending.TIMEOUT) is (unit[0] == "stubborn")


def test_an_answer_is_read_as_a_type() -> None:
    """A list becomes a tuple; what is of another type is refused."""
    result = ProcessResult(ending=Ending.OK, text=b"[1, 2]")
    assert result.answer_as(tuple[int, ...]) == (1, 2)
    with pytest.raises(msgspec.ValidationError):
        result.answer_as(str)
