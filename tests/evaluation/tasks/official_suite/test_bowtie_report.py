"""The report for Bowtie: every case once, every engine's answer to it."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadData, NoInput
from evaluation.core.cases import Case, InstanceWalk, Result
from evaluation.results.reader import open_run
from evaluation.tasks.official_suite import bowtie_report
from tests.evaluation.made_runs import HEAD, accepted, blocked, row, write_run

if TYPE_CHECKING:
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun

_CASE = Case(
    task="test-suite",
    id="not/0",
    config="2020-12",
    schema='{"not": {}}',
    walks=(InstanceWalk(text="1", valid=True), InstanceWalk(text="2", valid=False)),
)


@pytest.fixture(autouse=True)
def _suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of one case, so that none has to be fetched."""
    monkeypatch.setattr(
        bowtie_report, "_cases", lambda *_: {("2020-12", "not/0"): _CASE}
    )


def _run(tmp_path: Path, rows: list[Row]) -> RecordedRun:
    engines = [{"engine": name} for name in ("alpha 1.0", "beta 2.0")]
    return open_run(write_run(tmp_path / "run", rows, {**HEAD, "engines": engines}))


def _written(tmp_path: Path, rows: list[Row]) -> list[Path]:
    """Write the reports of a run; nothing can be fetched."""
    fetch = FetchSettings(cache=tmp_path / "cache", offline=True)
    return bowtie_report.write_bowtie(_run(tmp_path, rows), tmp_path / "out", fetch)


def test_a_report_has_cases_and_results(tmp_path: Path) -> None:
    """Header, case with schema and instances, one line an engine, footer."""
    base = {"task": "test-suite", "config": "2020-12", "id": "not/0"}
    refused = row(
        **base, engine="beta 2.0", result=Result.COMPILE_ERROR, detail="no", walks=()
    )
    rows = [row(**base, walks=(accepted(), blocked())), refused]
    (path,) = _written(tmp_path, rows)
    head, case, one, other, foot = map(json.loads, path.read_text().splitlines())
    assert head["dialect"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(head["implementations"]) == ["alpha 1.0", "beta 2.0"]
    assert case["case"]["schema"] == {"not": {}}
    assert [each["instance"] for each in case["case"]["tests"]] == [1, 2]
    assert one["results"] == [{"valid": True}, {"valid": False}]
    assert other["errored"] is other["caught"] is True
    assert other["context"]["message"] == "no"
    assert one["expected"] == other["expected"] == [True, False]
    assert one["seq"] == other["seq"] == case["seq"]
    assert foot == {"did_fail_fast": False}


def test_a_case_that_the_suite_has_no_more_is_named_and_left_out(
    tmp_path: Path,
) -> None:
    """Bowtie takes no case without schema and instances, which rows do not hold."""
    gone = row(task="test-suite", config="2020-12", id="gone/0")
    (path,) = _written(tmp_path, [gone])
    head, foot = map(json.loads, path.read_text().splitlines())
    assert head["metadata"]["left_out"] == ["gone/0"]
    assert foot == {"did_fail_fast": False}


def _bowtie(folder: Path) -> Path:
    """Return Bowtie's command: that of CSBDATA_BOWTIE, or one installed in a folder."""
    given = os.environ.get("CSBDATA_BOWTIE")
    if given:
        return Path(given)
    command = folder / "bin" / "bowtie"
    if not command.is_file():
        venv.create(folder, with_pip=True)
        python, wanted = folder / "bin" / "python", "bowtie-json-schema==2024.10.2"
        asked = subprocess.run(
            [python, "-m", "pip", "install", "-qq", wanted],
            check=False,
            capture_output=True,
        )
        if asked.returncode:
            pytest.skip("not run: pip cannot install bowtie-json-schema here")
    return command


@pytest.mark.slow
def test_bowtie_summary_reads_a_report(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Its own command counts what each engine has right, wrong and not answered."""
    base = {"task": "test-suite", "config": "2020-12", "id": "not/0"}
    rows = [
        row(**base, walks=(accepted(), blocked())),
        row(**base, engine="beta 2.0", result=Result.CRASH, walks=()),
        row(**base, engine="c", walks=(blocked(valid=True), accepted(valid=False))),
    ]
    engines = [
        {"engine": "alpha 1.0", "name": "alpha", "version": "1.0"},
        {"engine": "beta 2.0", "homepage": "https://example.org/beta"},
        {"engine": "c"},
    ]
    head = {**HEAD, "engines": engines, "started": "2026-11-22T10:00:00+00:00"}
    run = open_run(write_run(tmp_path / "run", rows, head))
    fetch = FetchSettings(cache=tmp_path / "cache", offline=True)
    (report,) = bowtie_report.write_bowtie(run, tmp_path / "out", fetch)
    bowtie = _bowtie(pytestconfig.cache.mkdir("bowtie"))
    # Its exit code says whether all was as it should be.
    said = {
        what: json.loads(
            subprocess.run(
                [bowtie, "summary", "--format", "json", "--show", what, report],
                check=False,
                capture_output=True,
            ).stdout
        )
        for what in ("validation", "failures")
    }
    assert said["validation"] == [
        [
            {"not": {}},
            [
                [1, {"alpha 1.0": "valid", "beta 2.0": "error", "c": "invalid"}],
                [2, {"alpha 1.0": "invalid", "beta 2.0": "error", "c": "valid"}],
            ],
        ]
    ]
    failed = dict(said["failures"])
    assert failed["alpha 1.0"] == {"failed": 0, "errored": 0, "skipped": 0}
    assert failed["beta 2.0"] == {"failed": 0, "errored": 2, "skipped": 0}
    assert failed["c"] == {"failed": 2, "errored": 0, "skipped": 0}


def test_cases_of_another_edition_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report has what the run asked, and not what the suite says today."""
    today = replace(_CASE, label={"suite": "suite@2"})
    monkeypatch.setattr(
        bowtie_report, "_cases", lambda *_: {("2020-12", "not/0"): today}
    )
    base = {"task": "test-suite", "config": "2020-12", "id": "not/0"}
    with pytest.raises(BadData, match="cases of suite@1; here is suite@2"):
        _written(tmp_path, [row(**base, label={"suite": "suite@1"})])
    assert _written(tmp_path, [row(**base, label={"suite": "suite@2"})])


def test_a_hostile_config_stays_in_the_folder(tmp_path: Path) -> None:
    """A config is a file's name, and no path."""
    gone = row(task="test-suite", config="../../x y", id="gone/0")
    (path,) = _written(tmp_path, [gone])
    assert path.parent == tmp_path / "out"
    assert list(path.parent.iterdir()) == [path]


def test_a_run_without_the_suite_has_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault names the task; the suite, which may have to be fetched, is not had."""
    monkeypatch.delattr(bowtie_report, "_cases")
    with pytest.raises(NoInput, match="test-suite"):
        _written(tmp_path, [row()])
