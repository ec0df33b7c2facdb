"""Whatever an engine does, every case has one row, with what exactly came of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.system.progress import Quiet
from evaluation.asking.run import run as run_request
from evaluation.core.cases import Result, WalkVerdict
from evaluation.results.outcomes import Outcome, outcome_of
from tests.evaluation.measuring import BRISK, measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path


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
                assert outcome_of(row) is Outcome.ENGINE_ERROR


def test_a_unit_is_blamed_only_after_a_fresh_worker(tmp_path: Path) -> None:
    """A process that dies once of a case that is well proves nothing."""
    samples = [sample("well", "{}"), sample("flaky", "{}")]
    option = f"mark={tmp_path / 'mark'}"
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("troubled")], request, [option])
    assert [row.result for row in done.rows()] == [Result.OK, Result.OK]
    assert (tmp_path / "mark").exists()


def test_an_engine_that_hangs_while_it_loads_is_told_of_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word soon, the end at its deadline, once, and the others go on."""
    monkeypatch.setattr("evaluation.walking.engine_worker._SLOW_START", 0.2)
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
