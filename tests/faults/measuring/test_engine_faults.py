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
    """Run every trouble between two cases that are well, on one worker."""
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


def test_a_unit_is_blamed_only_after_a_fresh_worker(tmp_path: Path) -> None:
    """A process that dies once of a case that is well proves nothing."""
    samples = [sample("well", "{}"), sample("flaky", "{}")]
    option = f"mark={tmp_path / 'mark'}"
    request = request_of(tmp_path, samples)
    _, done = measured(tmp_path, [miniature("troubled")], request, [option])
    assert [row.result for row in done.rows()] == [Result.OK, Result.OK]
    assert (tmp_path / "mark").exists()


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
