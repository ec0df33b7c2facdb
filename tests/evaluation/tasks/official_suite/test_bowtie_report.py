"""The report for Bowtie: every case once, every engine's answer to it."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadData, NoInput
from evaluation.core.cases import Result
from evaluation.results.reader import open_run
from evaluation.tasks.official_suite.bowtie_report import write_bowtie
from tests.evaluation.made_runs import HEAD, accepted, blocked, row, write_run

if TYPE_CHECKING:
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun

_CASE = {
    "description": "forbidden",
    "schema": {"not": {}},
    "tests": [
        {"description": "one", "instance": 1, "valid": True},
        {"description": "two", "instance": 10**30, "valid": False},
    ],
}
_BASE = {
    "task": "test-suite",
    "config": "2020-12",
    "id": "not/0",
    "label": {"case": json.dumps(_CASE)},
}


def _run(tmp_path: Path, rows: list[Row]) -> RecordedRun:
    engines = [{"engine": name} for name in ("alpha 1.0", "beta 2.0")]
    return open_run(write_run(tmp_path / "run", rows, {**HEAD, "engines": engines}))


def _written(tmp_path: Path, rows: list[Row]) -> list[Path]:
    return write_bowtie(_run(tmp_path, rows), tmp_path / "out")


def test_a_report_has_cases_and_results(tmp_path: Path) -> None:
    """Header, case with schema and instances, one line an engine, footer."""
    refused = row(
        **_BASE, engine="beta 2.0", result=Result.COMPILE_ERROR, detail="no", walks=()
    )
    rows = [row(**_BASE, walks=(accepted(), blocked())), refused]
    (path,) = _written(tmp_path, rows)
    head, case, one, other, foot = map(json.loads, path.read_text().splitlines())
    assert head["dialect"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(head["implementations"]) == ["alpha 1.0", "beta 2.0"]
    assert case["case"] == _CASE
    assert one["results"] == [{"valid": True}, {"valid": False}]
    assert other["errored"] is other["caught"] is True
    assert other["context"]["message"] == "no"
    assert one["expected"] == other["expected"] == [True, False]
    assert one["seq"] == other["seq"] == case["seq"]
    assert foot == {"did_fail_fast": False}


def test_rows_without_their_cases_are_refused(tmp_path: Path) -> None:
    """A report has what the run asked, and not what the suite says today."""
    with pytest.raises(BadData, match="without their cases"):
        _written(tmp_path, [row(task="test-suite", config="2020-12", id="not/0")])


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


@pytest.mark.nightly
def test_bowtie_summary_reads_a_report(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Its own command counts what each engine has right, wrong and not answered."""
    rows = [
        row(**_BASE, walks=(accepted(), blocked())),
        row(**_BASE, engine="beta 2.0", result=Result.CRASH, walks=()),
        row(**_BASE, engine="c", walks=(blocked(valid=True), accepted(valid=False))),
    ]
    engines = [
        {"engine": "alpha 1.0", "name": "alpha", "version": "1.0"},
        {"engine": "beta 2.0", "homepage": "https://example.org/beta"},
        {"engine": "c"},
    ]
    head = {**HEAD, "engines": engines, "started": "2026-11-22T10:00:00+00:00"}
    run = open_run(write_run(tmp_path / "run", rows, head))
    (report,) = write_bowtie(run, tmp_path / "out")
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
                [10**30, {"alpha 1.0": "invalid", "beta 2.0": "error", "c": "valid"}],
            ],
        ]
    ]
    failed = dict(said["failures"])
    assert failed["alpha 1.0"] == {"failed": 0, "errored": 0, "skipped": 0}
    assert failed["beta 2.0"] == {"failed": 0, "errored": 2, "skipped": 0}
    assert failed["c"] == {"failed": 2, "errored": 0, "skipped": 0}


def test_a_hostile_config_stays_in_the_folder(tmp_path: Path) -> None:
    """A config is a file's name, and no path."""
    (path,) = _written(tmp_path, [row(**{**_BASE, "config": "../../x y"})])
    assert path.parent == tmp_path / "out"
    assert list(path.parent.iterdir()) == [path]


def test_a_run_without_the_suite_has_no_report(tmp_path: Path) -> None:
    """The fault names the task."""
    with pytest.raises(NoInput, match="test-suite"):
        _written(tmp_path, [row()])
