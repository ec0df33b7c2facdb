"""Whatever an engine does, its case has one row, and the worker no secret of ours."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.progress import Quiet
from evaluation.core.cases import Result, WalkVerdict
from evaluation.masks.run import RunPlan, run
from evaluation.results.outcomes import Outcome, read_outcome
from evaluation.results.reader import open_run
from evaluation.runner.run import header
from evaluation.runner.run import run as run_request
from evaluation.setup.engine_files import find_engine
from evaluation.setup.selected_engines import EngineUnderTest
from evaluation.tasks import task_named
from tests.evaluation.masks.opened_folder import open_results_folder
from tests.evaluation.measuring import (
    BRISK,
    measured,
    miniature,
    miniature_with,
    request_of,
    sample,
    tokenizer,
)
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.core.cases import Row
    from evaluation.core.records import Record

#: Title of a schema to what must come of it, where, and a word of the detail.
TROUBLES = {
    "crash-compile": (Result.CRASH, "compile", "SIGSEGV"),
    "crash-walk": (Result.CRASH, "walk", "SIGSEGV"),
    "abort-compile": (Result.CRASH, "compile", "SIGABRT"),
    "abort-walk": (Result.CRASH, "walk", "SIGABRT"),
    "exit-compile": (Result.CRASH, "compile", "status 3"),
    "hang-compile": (Result.TIMEOUT, "compile", "within 3 s"),
    "hang-walk": (Result.TIMEOUT, "walk", "within 6 s"),
    "raise-compile": (Result.COMPILE_ERROR, "compile", "RuntimeError: raised"),
    "raise-walk": (Result.ENGINE_ERROR, "walk", "RuntimeError: raised"),
    "raise-commit": (Result.ENGINE_ERROR, "walk", "RuntimeError: raised"),
    "panic-compile": (Result.COMPILE_ERROR, "compile", "panicked"),
    "panic-walk": (Result.ENGINE_ERROR, "walk", "panicked"),
    "bad-alloc-compile": (Result.OUT_OF_MEMORY, "compile", "SIGABRT"),
    "hog-compile": (Result.OUT_OF_MEMORY, "compile", ""),
    "hog-walk": (Result.OUT_OF_MEMORY, "walk", ""),
    "refuse": (Result.COMPILE_ERROR, "compile", "refused, as it says"),
    "slow-walk": (Result.TIMEOUT, "walk", "not finished within 3 s"),
    "lie": (Result.OK, "", ""),
}

_LONG = json.dumps(["x"] * 200)


#: What costs no process, one crash and one hang.
_FEW = [
    *("crash-walk", "hang-compile", "raise-compile", "raise-walk", "raise-commit"),
    *("panic-compile", "panic-walk", "refuse", "lie"),
]
_OTHERS = sorted(TROUBLES.keys() - _FEW)


@pytest.mark.parametrize(
    "names",
    [_FEW, pytest.param(_OTHERS, marks=pytest.mark.slow)],
    ids=["few", "others"],
)
def test_a_trouble_is_told_exactly_and_disturbs_nobody_else(
    names: list[str], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Result, phase and reason are those of what the engine did, on one worker.

    What is well before and after a trouble is walked to its end, once.
    """
    samples = [sample("well-first", "{}", "[1]")]
    for number, name in enumerate(names):
        text = _LONG if name == "slow-walk" else "[1, 2]"
        samples += [sample(name, text), sample(f"well-{number}", "[true]")]
    request = request_of(tmp_path, samples)
    totals, done = measured(tmp_path, [miniature("troubled")], request)
    rows = list(done.rows())
    assert totals.ran == len(samples)
    assert sorted(row.id for row in rows) == sorted(each.id for each in samples)
    for row in rows:
        verdicts = [walk.verdict for walk in row.walks]
        with subtests.test(name=row.id):
            if row.id not in TROUBLES:
                assert row.result is Result.OK, row
                assert {*verdicts} == {WalkVerdict.ACCEPTED}
                continue
            result, phase, word = TROUBLES[row.id]
            assert (row.result, row.phase) == (result, phase), row.detail
            assert word in row.detail
            if result is Result.OK:
                assert verdicts == [WalkVerdict.LIED]
            if result is Result.ENGINE_ERROR:
                # Neither blocked nor lied about: the walk says how the engine failed.
                (walk,) = row.walks
                assert (walk.verdict, walk.at) == (WalkVerdict.ENGINE_ERROR, 0)
                assert walk.detail == row.detail
                assert read_outcome(row) is Outcome.ENGINE_ERROR


def _rows(
    folder: Path,
    name: str,
    *samples: Record,
    options: Sequence[str] = (),
    **fields: Any,  # noqa: ANN401 (fields of the request)
) -> list[Row]:
    """Return the rows of a miniature over samples."""
    request = request_of(folder, samples, **fields)
    _, done = measured(folder, [miniature(name)], request, options)
    return list(done.rows())


def test_a_unit_is_blamed_only_after_a_fresh_worker(tmp_path: Path) -> None:
    """A process that dies once of a case that is well proves nothing."""
    mark = tmp_path / "mark"
    samples = [sample("well", "{}"), sample("flaky", "{}")]
    rows = _rows(tmp_path, "troubled", *samples, options=[f"mark={mark}"])
    assert [row.result for row in rows] == [Result.OK, Result.OK]
    assert mark.exists()


def test_a_case_is_blamed_for_a_kill_at_the_fourth_time(tmp_path: Path) -> None:
    """Who kills a process is somebody else, as a rule."""
    mark = tmp_path / "mark"
    samples = [sample("well", "{}"), sample("killed", "{}")]
    rows = _rows(tmp_path, "troubled", *samples, options=[f"mark={mark}"])
    details = {row.id: row.detail for row in rows}
    assert "SIGKILL" in details["killed"]
    assert mark.stat().st_size == len("four")


def test_an_engine_that_hangs_while_it_loads_is_told_of_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word soon, the end at its deadline, once, and the others go on."""
    monkeypatch.setattr("evaluation.masks.engine_worker._SLOW_START", 0.2)
    request = request_of(
        tmp_path,
        [sample("well", "{}")],
        engines=(miniature("stuck_loading"), miniature("accept_all")),
        bounds=replace(BRISK, load_seconds=6.0),
        run_dir=tmp_path / "run",
    )
    lines: list[str] = []
    monkeypatch.setattr(Quiet, "log", lambda _self, line: lines.append(line))
    result = run_request(request, Quiet())
    assert [row.engine.split()[0] for row in result.open().rows()] == ["accept_all"]
    (reason,) = result.totals.unavailable.values()
    assert "no answer within 6 s" in reason
    still = [line for line in lines if "still being loaded" in line]
    (said,) = [line for line in still if line.startswith("stuck_loading")]
    assert "given up after 6" in said


def test_an_engine_that_is_not_there_is_no_failure(tmp_path: Path) -> None:
    """It is told with the line that installs it; the others go on."""
    request = request_of(tmp_path, [sample("well", "{}")])
    engines = [miniature("absent"), miniature("broken"), miniature("accept_all")]
    totals, done = measured(tmp_path, engines, request)
    assert [row.engine.split()[0] for row in done.rows()] == ["accept_all"]
    absent, broken = totals.unavailable.items()
    assert "is not installed" in absent[1]
    assert "libengine.so.1" in broken[1]
    told = {each["name"]: each for each in done.raw_header["engines"]}
    assert "csbdata-no-such-engine" in told["absent"]["unavailable"]
    assert told["absent"]["install"]
    assert "libengine.so.1" in told["broken"]["unavailable"]
    assert told["accept_all"]["unavailable"] is None


@pytest.mark.parametrize(
    ("title", "phase"),
    first_fast(
        1, [("behind-it", "compile"), ("by-python", "compile"), ("in-mask", "walk")]
    ),
)
def test_an_engine_that_prints_without_end_is_said_to(
    tmp_path: Path, title: str, phase: str
) -> None:
    """It is no refusal and no hang; what it printed last is kept, and little of it."""
    samples = [sample("first", "{}"), sample(title, "{}"), sample("last", "{}")]
    bounds = replace(BRISK, compile_seconds=30.0, run_seconds=30.0)
    by_id = {row.id: row for row in _rows(tmp_path, "flood", *samples, bounds=bounds)}
    before, row, after = (by_id[one.id] for one in samples)
    assert (row.result, row.phase) == (Result.TOO_MUCH_OUTPUT, phase)
    assert "printed over 60 MiB" in row.detail
    assert any("still warning" in line for line in row.warnings)
    assert len(row.warnings) <= 50
    assert before.result is after.result is Result.OK


def test_a_babbler_does_not_break_the_protocol(tmp_path: Path) -> None:
    """What it prints, by whichever layer, is data of the row: forged answers too."""
    samples = [sample("one", "{}"), sample("two", "{}")]
    for row in _rows(tmp_path, "babbler", *samples):
        assert row.result is Result.OK
        assert set(row.warnings) == {
            'compiling {"title":',
            "careful",
            # The time of day before it is gone, so that runs can be compared.
            "native: Warning",
            '{"request": 0, "answer": {"compile_ns": 1}}',
            "by the C library",
        }


_LONG_FIRST = sample("one", "[1, 2, 3]", "[1]", "[1]")


def test_a_failure_that_is_not_told_is_a_contradiction(tmp_path: Path) -> None:
    """Without a word of the engine: it blocks what it let through, and that is said."""
    (row,) = _rows(tmp_path, "worn_out", _LONG_FIRST)
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts == [WalkVerdict.BLOCKED, *2 * [WalkVerdict.CONTRADICTED]]
    assert "after the same tokens in text 1" in row.walks[1].detail
    assert read_outcome(row) is Outcome.CONTRADICTED


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """Return an interpreter that has no package at all."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    path = tmp_path / "bare" / "bin" / "python"
    asked = (
        "from importlib.util import find_spec as f; print(f('curation'), f('orjson'))"
    )
    said = subprocess.run([path, "-P", "-c", asked], capture_output=True, check=True)
    assert said.stdout.split() == [b"None", b"None"]
    return str(path)


def test_an_engine_lives_in_an_environment_that_knows_nothing(
    tmp_path: Path, bare: str
) -> None:
    """A bare interpreter, with no package at all, is enough for the worker."""
    participant = EngineUnderTest(
        file=find_engine(miniature("accept_all")), interpreter=bare, version="1"
    )
    request = request_of(tmp_path, [sample("well", '{"a": 1}')])
    task = task_named("masks")
    plan = RunPlan(
        tasks=[task],
        records=lambda: [sample("well", '{"a": 1}')],
        tokenizer=tokenizer(tmp_path),
        settings=request.settings,
        bounds=request.bounds,
    )
    head = header([participant], plan, None, None, {})
    with open_results_folder(tmp_path / "run", head) as out:
        run([participant], plan, out)
    (row,) = open_run(tmp_path / "run").rows()
    assert row.result is Result.OK
    assert row.walks[0].verdict is WalkVerdict.ACCEPTED


def _spied(folder: Path, code: str, preset: str = "faithful") -> Row:
    """Return the row of an engine that accepts all, and runs some code besides."""
    spy = miniature_with(folder, f"import os\n{code}")
    request = request_of(folder, [sample("well", "{}")], preset=preset)
    _, done = measured(folder, [spy], request)
    (row,) = done.rows()
    return row


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
@pytest.mark.parametrize("preset", ["faithful", "vendor"])
def test_timed_work_stays_on_one_core_unless_a_vendor_chooses(
    preset: str, tmp_path: Path
) -> None:
    """The worker is pinned to one core, with one thread, and we are back after.

    What a library does by itself, preset `vendor`, is not done so.
    """
    before = os.sched_getaffinity(0)
    row = _spied(
        tmp_path,
        "PRESETS = {'faithful': {}, 'vendor': {}, 'paper': {}}\n"
        "_Engine.compile = lambda self, schema: print("
        "len(os.sched_getaffinity(0)), os.environ.get('OMP_NUM_THREADS')) or schema\n",
        preset=preset,
    )
    wanted = "1 1" if preset == "faithful" else f"{len(before)} None"
    assert row.warnings == (wanted,)
    assert preset == "vendor" or isinstance(row.quiet, bool)
    assert os.sched_getaffinity(0) == before
