"""Whatever an engine does, every unit has one row, with what exactly came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import venv
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from curation.system.progress import Quiet
from curation.workers.limits import Limits
from curation.workers.process import Program
from evaluation.core.cases import Instance, Result, Sample, WalkVerdict
from evaluation.core.task_settings import TaskSettings
from evaluation.execution.engine_worker import tokenizer_setup
from evaluation.execution.header import header
from evaluation.execution.results_folder import open_results_folder
from evaluation.generation.engine_batch import EngineProcess
from evaluation.measurement.run import plan_run
from evaluation.measurement.run import run as run_request
from evaluation.reporting.tables import Duration
from evaluation.results.outcomes import Outcome, outcome_of
from evaluation.results.reader import open_run
from evaluation.scheduling.runner import run
from evaluation.setup.engine_files import find_engine
from evaluation.setup.selected_engines import EngineUnderTest
from evaluation.tasks.masks.warm_times import WarmTimes
from tests.evaluation.measuring import (
    BRISK,
    MINIATURES,
    measured,
    miniature,
    request_of,
    sample,
    tokenizer,
)

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Row

#: Title of a schema to what must come of it, where, and a word of the detail.
TROUBLES = {
    "crash-compile": (Result.CRASH, "compile", "SIGSEGV"),
    "crash-walk": (Result.CRASH, "walk", "SIGSEGV"),
    "abort-compile": (Result.CRASH, "compile", "SIGABRT"),
    "abort-walk": (Result.CRASH, "walk", "SIGABRT"),
    "exit-compile": (Result.CRASH, "compile", "status 3"),
    "hang-compile": (Result.TIMEOUT, "compile", "within 1 s"),
    "hang-walk": (Result.TIMEOUT, "walk", "within 2 s"),
    "raise-compile": (Result.COMPILE_ERROR, "compile", "RuntimeError: raised"),
    "raise-walk": (Result.ENGINE_ERROR, "walk", "RuntimeError: raised"),
    "raise-commit": (Result.ENGINE_ERROR, "walk", "RuntimeError: raised"),
    "panic-compile": (Result.COMPILE_ERROR, "compile", "panicked"),
    "panic-walk": (Result.ENGINE_ERROR, "walk", "panicked"),
    "bad-alloc-compile": (Result.OUT_OF_MEMORY, "compile", "SIGABRT"),
    "hog-compile": (Result.OUT_OF_MEMORY, "compile", ""),
    "hog-walk": (Result.OUT_OF_MEMORY, "walk", ""),
    "refuse": (Result.COMPILE_ERROR, "compile", "refused, as it says"),
    "slow-walk": (Result.TIMEOUT, "walk", "not through within 1 s"),
    "lie": (Result.OK, "", ""),
}
_LONG = json.dumps(["x"] * 200)


def _rows(folder: Path) -> dict[str, list[Row]]:
    """Run every trouble between two units that are well, on one worker."""
    samples = [sample("well-first", "{}", "[1]")]
    for number, name in enumerate(TROUBLES):
        text = _LONG if name == "slow-walk" else "[1, 2]"
        samples += [sample(name, text), sample(f"well-{number}", "[true]")]
    request = request_of(folder, samples)
    totals, done = measured(folder, [miniature("troubled")], request)
    assert totals.ran == len(samples)
    found: dict[str, list[Row]] = {}
    for row in done.rows():
        found.setdefault(row.id, []).append(row)
    assert set(found) == {each.id for each in samples}
    return found


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """Return the rows of the mix, by id."""
    return _rows(tmp_path_factory.mktemp("mix"))


@pytest.mark.parametrize("name", TROUBLES)
def test_a_trouble_is_told_exactly(name: str, rows: dict[str, list[Row]]) -> None:
    """Result, phase and reason are those of what the engine did."""
    result, phase, word = TROUBLES[name]
    (row,) = rows[name]
    assert (row.result, row.phase) == (result, phase), row.detail
    assert word in row.detail
    if result is Result.OK:
        assert [each.verdict for each in row.walks] == [WalkVerdict.LIED]


def test_nobody_else_is_disturbed(rows: dict[str, list[Row]]) -> None:
    """What is well before and after a trouble is walked to its end, once."""
    well = {name: found for name, found in rows.items() if name.startswith("well")}
    assert len(well) == len(TROUBLES) + 1
    for found in well.values():
        (row,) = found
        assert row.result is Result.OK, row
        assert {each.verdict for each in row.walks} == {WalkVerdict.ACCEPTED}


def test_walks_that_were_not_reached_say_so(rows: dict[str, list[Row]]) -> None:
    """A row has all its walks; those without an answer are not run."""
    for name in ("refuse", "crash-walk", "hang-walk"):
        (walk,) = rows[name][0].walks
        assert walk.verdict is WalkVerdict.NOT_RUN
        assert walk.tokens > 0


def test_a_unit_is_blamed_only_after_a_fresh_worker(tmp_path: Path) -> None:
    """A process that dies once of a unit that is well proves nothing."""
    samples = [sample("well", "{}"), sample("flaky", "{}")]
    option = f"mark={tmp_path / 'mark'}"
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("troubled")], request, [option])
    assert [row.result for row in done.rows()] == [Result.OK, Result.OK]
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("title", "verdict", "words"),
    [
        ("too_strict", WalkVerdict.MASK_GAP, "is not in the mask, and commit takes it"),
        ("too_lax", WalkVerdict.LIED, "is in the mask, and commit refuses it: told to"),
        ("too_small", WalkVerdict.LIED, "are needed"),
    ],
)
def test_a_liar_is_caught_in_both_directions(
    tmp_path: Path, title: str, verdict: WalkVerdict, words: str
) -> None:
    """Mask against commit, with the engine's reason; and the mask's size."""
    request = request_of(tmp_path, [sample(title, "[1, 2, 3]")])
    _, done = measured(tmp_path, [miniature("liar")], request)
    (row,) = done.rows()
    (walk,) = row.walks
    assert walk.verdict is verdict
    assert words in walk.detail
    assert "0.1 s" not in walk.detail


@pytest.mark.parametrize("name", ["raise-walk", "raise-commit", "panic-walk"])
def test_what_an_engine_raises_is_no_verdict_of_a_text(
    name: str, rows: dict[str, list[Row]]
) -> None:
    """Neither blocked nor lied about: the walk says that the engine failed, and how."""
    (row,) = rows[name]
    (walk,) = row.walks
    assert (walk.verdict, walk.at) == (WalkVerdict.ENGINE_ERROR, 0)
    assert walk.detail == row.detail
    assert outcome_of(row) is Outcome.ENGINE_ERROR


_LONG_FIRST = ("[1, 2, 3]", "[1]", "[1]")


def test_a_failure_that_is_told_is_no_block(tmp_path: Path) -> None:
    """An engine that never raises is asked after each step, dead copies included."""
    request = request_of(tmp_path, [sample("one", *_LONG_FIRST)])
    _, done = measured(tmp_path, [miniature("worn_out")], request, ["tells=true"])
    (row,) = done.rows()
    assert [walk.verdict for walk in row.walks] == 3 * [WalkVerdict.ENGINE_ERROR]
    assert [walk.at for walk in row.walks] == [4, 0, 0]
    assert (row.result, row.detail) == (Result.ENGINE_ERROR, "too many states: 3 >= 3")


def test_a_failure_that_is_not_told_is_a_contradiction(tmp_path: Path) -> None:
    """Without a word of the engine: it blocks what it let through, and that is said."""
    request = request_of(tmp_path, [sample("one", *_LONG_FIRST)])
    _, done = measured(tmp_path, [miniature("worn_out")], request)
    (row,) = done.rows()
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts == [WalkVerdict.BLOCKED, *2 * [WalkVerdict.CONTRADICTED]]
    assert "after the same tokens in text 1" in row.walks[1].detail
    assert outcome_of(row) is Outcome.CONTRADICTED


def test_an_engine_wrong_only_in_the_second_text_is_caught(tmp_path: Path) -> None:
    """The block proves nothing of an invalid text: it is no pass either."""
    texts = replace(
        sample("one", "[1, 2]"),
        instances=(
            Instance(text="[1, 2]", valid=True, kind="made"),
            Instance(text="[1, 3]", valid=False, kind="near_miss"),
        ),
    )
    request = request_of(tmp_path, [texts])
    totals, done = measured(tmp_path, [miniature("second_text")], request)
    (row,) = done.rows()
    assert row.walks[1].verdict is WalkVerdict.CONTRADICTED
    assert outcome_of(row) is Outcome.CONTRADICTED
    assert len(totals.reproducers) == 1


def test_an_engine_that_hangs_while_it_loads_is_told_of_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word soon, the end at its deadline, once, and the others go on."""
    monkeypatch.setattr("evaluation.execution.engine_worker._SLOW_START", 0.2)
    request = request_of(
        tmp_path,
        [sample("well", "{}")],
        engines=(miniature("stuck_loading"), miniature("accept_all")),
        bounds=replace(BRISK, load_seconds=1.5),
        run_dir=tmp_path / "run",
    )
    told = _Told()
    result = run_request(request, told)
    assert [row.engine.split()[0] for row in result.open().rows()] == ["accept_all"]
    (reason,) = result.totals.unavailable.values()
    assert "no answer within 1.5 s" in reason
    still = [line for line in told.lines if "still being loaded" in line]
    (said,) = [line for line in still if line.startswith("stuck_loading")]
    assert "given up after 1.5" in said


class _Told(Quiet):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        """Keep one line."""
        self.lines.append(message)


@pytest.mark.parametrize(
    ("title", "phase"),
    [("by-python", "compile"), ("behind-it", "compile"), ("in-mask", "walk")],
)
def test_an_engine_that_prints_without_end_is_said_to(
    tmp_path: Path, title: str, phase: str
) -> None:
    """It is no refusal and no hang; what it printed last is kept, and little of it."""
    samples = [sample("first", "{}"), sample(title, "{}"), sample("last", "{}")]
    bounds = replace(BRISK, compile_seconds=30.0, run_seconds=30.0)
    request = request_of(tmp_path, samples, bounds=bounds)
    _, done = measured(tmp_path, [miniature("flood")], request)
    by_id = {row.id: row for row in done.rows()}
    before, row, after = (by_id[one.id] for one in samples)
    assert (row.result, row.phase) == (Result.TOO_MUCH_OUTPUT, phase)
    assert "printed over 60 MiB" in row.detail
    assert any("still warning" in line for line in row.warnings)
    assert len(row.warnings) <= 50
    assert before.result is after.result is Result.OK


def test_an_engine_that_answers_for_another_schema_is_wrong_both_ways(
    tmp_path: Path,
) -> None:
    """It takes the texts of the schema before, and blocks those of this one."""
    samples = [
        Sample(
            id=str(number),
            config="Made",
            split="",
            schema=f'{{"const": {number}}}',
            dialect="2020-12",
            instances=(
                Instance(text=str(number), valid=True, kind="made"),
                Instance(text=str(number - 1), valid=False, kind="near_miss"),
            ),
        )
        for number in (1, 2, 3)
    ]
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("another_schema")], request)
    assert [outcome_of(row) for row in done.rows()] == [
        # The schema before the first is that of the warm-up.
        Outcome.OVER_CONSTRAINED,
        Outcome.WRONG_BOTH_WAYS,
        Outcome.WRONG_BOTH_WAYS,
    ]


def test_an_engine_that_slows_down_once_it_is_warm_is_told_apart(
    tmp_path: Path,
) -> None:
    """Quick with the first text of a schema and slow with the next: a count says so."""
    samples = [sample(name, "[1, 2, 3]", "[1, 2, 4]") for name in ("one", "two")]
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("tired")], request)
    times = WarmTimes()
    for row in done.rows():
        times.add(row)
    ((_, schemas, fresh, warm, _, slower),) = times.table().rows
    assert (schemas, slower) == (2, 2)
    assert isinstance(fresh, Duration)
    assert isinstance(warm, Duration)
    # It sleeps for two milliseconds in each mask of the second text.
    assert warm.ns >= 2_000_000


def test_a_babbler_does_not_break_the_protocol(tmp_path: Path) -> None:
    """What it prints, by whichever layer, is data of the row: forged answers too."""
    request = request_of(tmp_path, [sample("one", "{}"), sample("two", "{}")])
    _, done = measured(tmp_path, [miniature("babbler")], request)
    for row in done.rows():
        assert row.result is Result.OK
        assert set(row.warnings) == {
            'compiling {"title":',
            "careful",
            # The time of day before it is gone, so that runs can be compared.
            "native: Warning",
            '{"unit": 0, "answer": {"compile_ns": 1}}',
            "by the C library",
        }


def test_what_differs_from_run_to_run_is_not_recorded(tmp_path: Path) -> None:
    """Times of day and addresses in what an engine prints are left out."""
    lines: list[tuple[str, ...]] = []
    for name in ("first", "second"):
        request = request_of(tmp_path, [sample("crash-compile", "{}")])
        _, done = measured(tmp_path / name, [miniature("troubled")], request)
        (row,) = done.rows()
        lines.append(row.warnings)
    assert lines[0] == lines[1]
    assert any("Segmentation fault" in each for each in lines[0])


@pytest.mark.parametrize(
    ("name", "result", "word"),
    [
        ("crash", Result.CRASH, "SIGSEGV"),
        ("abort", Result.CRASH, "SIGABRT"),
        ("hang", Result.TIMEOUT, "1 s"),
        ("hog", Result.OUT_OF_MEMORY, ""),
        ("refuse_all", Result.COMPILE_ERROR, "takes nothing"),
        ("accept_all", Result.OK, ""),
    ],
)
def test_each_miniature_comes_to_what_it_is_named_after(
    tmp_path: Path, name: str, result: Result, word: str
) -> None:
    """One engine, one trouble."""
    request = request_of(tmp_path, [sample(name, "[1]")])
    _, done = measured(tmp_path, [miniature(name)], request)
    (row,) = done.rows()
    assert (row.result, word in row.detail) == (result, True)


def test_a_failure_can_be_seen_again(tmp_path: Path) -> None:
    """The reproducer holds schema, texts and the command that runs it."""
    request = request_of(tmp_path, [sample("crash-walk", "[1]"), sample("well", "[1]")])
    totals, done = measured(tmp_path, [miniature("troubled")], request)
    (path,) = totals.reproducers
    content = json.loads(path.read_text("utf-8"))
    assert content["schema"] == {"title": "crash-walk"}
    assert content["tests"] == [{"valid": True, "text": "[1]", "data": [1]}]
    words = content["csbdata"]["command"].split()
    assert words[:4] == ["csbdata", "eval", "--engine", miniature("troubled")]
    assert str(path) in words
    assert len(done) == 2


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
    plan, _, _ = plan_run(request, Quiet())
    head = header([participant], plan, {}, None)
    with open_results_folder(tmp_path / "run", head) as out:
        run([participant], plan, out)
    (row,) = open_run(tmp_path / "run").rows()
    assert row.result is Result.OK
    assert row.walks[0].verdict is WalkVerdict.ACCEPTED


def test_a_text_is_constrained_in_an_environment_that_knows_nothing(
    tmp_path: Path, bare: str
) -> None:
    """The same interpreter is enough where a model writes."""
    files = tokenizer(tmp_path)
    known = tokenizer_setup(files)
    engine = miniature("accept_all")
    program = Program(
        file=MINIATURES / "accept_all.py",
        setup={"engine": engine, "options": {}, "tokenizer": known},
        interpreter=bare,
    )
    with EngineProcess(
        program, 1, vocab_size=files.vocab_size, limits=Limits()
    ) as process:
        (session,) = process.sessions
        session.compile("{}", 20.0)
        assert session.compiled().forced == ()
        assert session.mask().allowed.all()


def test_no_token_reaches_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What we know of hosts and credentials stays here, and out of every file."""
    planted = "hf_" + "x" * 30
    monkeypatch.setenv("HF_TOKEN", planted)
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # Longer than a line.
    spy = tmp_path / "spy.py"
    spy.write_text(
        (MINIATURES / "accept_all.py").read_text("utf-8")
        + "\n\nimport os\nprint(dict(os.environ))\n"
        "_Engine.compile = lambda self, schema: print(dict(os.environ)) or schema\n",
        "utf-8",
    )
    _, done = measured(
        tmp_path, [str(spy)], request_of(tmp_path, [sample("well", "{}")])
    )
    (row,) = done.rows()
    assert any("PYTHONHASHSEED" in each for each in row.warnings)
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or planted.encode() not in path.read_bytes()


def test_padding_is_masked_and_never_walked(tmp_path: Path) -> None:
    """A vocabulary with padding needs a mask for the padding too."""
    request = request_of(tmp_path, [sample("well", "{}")], padding=70)
    _, done = measured(tmp_path, [miniature("accept_all")], request)
    assert [each.result for each in done.rows()] == [Result.OK]


def test_orders_are_walked_apart(tmp_path: Path) -> None:
    """Other orders of a valid instance's members are walks of their own kind."""
    request = request_of(
        tmp_path,
        [sample("well", '{"a": 1, "b": {"c": 2, "d": 3}}')],
        settings=TaskSettings(orders=3),
    )
    _, done = measured(tmp_path, [miniature("accept_all")], request)
    (row,) = done.rows()
    assert [bool(each.label.get("apart")) for each in row.walks] == [False] + 3 * [True]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
def test_timed_work_stays_on_one_core(tmp_path: Path) -> None:
    """The worker is pinned to one core, with one thread, and we are back after."""
    before = os.sched_getaffinity(0)
    spy = tmp_path / "spy.py"
    spy.write_text(
        (MINIATURES / "accept_all.py").read_text("utf-8")
        + "\n\nimport os\n_Engine.compile = lambda self, schema: print("
        "len(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS']) or schema\n",
        "utf-8",
    )
    _, done = measured(
        tmp_path, [str(spy)], request_of(tmp_path, [sample("well", "{}")])
    )
    (row,) = done.rows()
    assert row.warnings == ("1 1",)
    assert isinstance(row.quiet, bool)
    assert os.sched_getaffinity(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
def test_the_preset_vendor_leaves_threads_and_cores_to_the_library(
    tmp_path: Path,
) -> None:
    """What a library does by itself is not done on one core with one thread."""
    spy = tmp_path / "spy.py"
    spy.write_text(
        (MINIATURES / "accept_all.py").read_text("utf-8")
        + "\n\nPRESETS = {'faithful': {}, 'vendor': {}, 'paper': {}}\n"
        "import os\n_Engine.compile = lambda self, schema: print("
        "len(os.sched_getaffinity(0)), os.environ.get('OMP_NUM_THREADS')) or schema\n",
        "utf-8",
    )
    request = request_of(tmp_path, [sample("well", "{}")], preset="vendor")
    _, done = measured(tmp_path, [str(spy)], request)
    (row,) = done.rows()
    cores = len(os.sched_getaffinity(0))
    assert row.warnings == (f"{cores} None",)


def test_a_worker_dies_with_its_driver(tmp_path: Path) -> None:
    """SIGKILL of the driver leaves no engine behind, not even one that hangs."""
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.evaluation.measuring import *\n"
        "folder = Path(sys.argv[1])\n"
        "request = request_of(folder, [sample('hang-compile', '{}')],"
        " bounds=Bounds(compile_seconds=60))\n"
        "measured(folder, [miniature('troubled')], request)\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    try:
        worker = _child_of(driver.pid)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert _gone(worker)


def _child_of(pid: int) -> int:
    for _ in range(600):
        for child in psutil.Process(pid).children():
            if any(word.endswith("engine_process.py") for word in child.cmdline()):
                return int(child.pid)
        time.sleep(0.05)
    raise AssertionError("no worker was started")


def _gone(pid: int) -> bool:
    for _ in range(200):
        if not psutil.pid_exists(pid):
            return True
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False
