"""MaskBench's files: its fields, its definitions, and what its own tool would read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.instances.dataset.records import name_of
from curation.system.errors import NoInput
from evaluation.core.cases import Result
from evaluation.results.reader import open_run
from evaluation.tasks.masks.maskbench_files import (
    result_of,
    write_maskbench,
)
from tests.evaluation.made_runs import HEAD, accepted, blocked, row, write_run

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row


def _dead(result: Result, case: str) -> Row:
    return row(
        id=case, result=result, phase="compile", compile_ns=None,
        first_mask_ns=None, walks=(),
    )  # fmt: skip


def _written(tmp_path: Path, rows: list[Row]) -> Path:
    header = {**HEAD, "engines": [], "limits": {"compile_seconds": 40}}
    run = open_run(write_run(tmp_path / "run", rows, header))
    (folder,) = write_maskbench(run, tmp_path / "out")
    return folder


def test_a_schema_has_its_file() -> None:
    """Times in whole microseconds, one for each token: mask and commit together."""
    found = result_of(
        row(walks=(accepted(2_600, tokens=2), blocked(1))), "Github_easy---o1.json"
    )
    assert found == {
        "id": "Github_easy---o1.json",
        "ttfm_us": 2_000,
        "max_ttfm_us": 2_000,
        "masks_us": 3 + 3 + 51 + 50,
        "max_mask_us": 51,
        "num_tokens": 4,
        "num_tests": 2,
        "all_mask_us": [3, 3, 51, 50],
        "num_valid_tests": 1,
        "num_invalid_tests": 1,
    }


def test_what_went_wrong_is_said_in_its_words() -> None:
    """Its tool tells the two kinds apart by these sentences."""
    blocks = result_of(row(walks=(blocked(valid=True), accepted())), "x")
    accepts = result_of(row(walks=(accepted(), accepted(valid=False))), "x")
    refused = result_of(row(result=Result.COMPILE_ERROR, detail="no", walks=()), "x")
    assert blocks["validation_error"] == "test #0: should accept but didn't"
    assert accepts["validation_error"] == "test #1: should reject but didn't"
    assert refused["compile_error"] == "no"


def test_no_two_results_share_a_file_on_any_disk(tmp_path: Path) -> None:
    """Ids that differ in case, and all spellings and lengths, stay apart."""
    ids = ["CASE", "case", "Case", "caf\u00e9", "cafe\u0301", "Other"]
    ids += ["a" * 300, "a" * 301]
    rows = [row(id=each, engine=engine) for each in ids for engine in ("a 1", "a/1")]
    header = {**HEAD, "engines": [], "limits": {"compile_seconds": 40}}
    run = open_run(write_run(tmp_path / "run", rows, header))
    folders = write_maskbench(run, tmp_path / "out")
    assert len({folder.name.casefold() for folder in folders}) == 2
    files = [path.name for path in folders[0].glob("*---*.json")]
    assert len({name.casefold() for name in files}) == len(ids)
    assert "Github_easy---Other.json" in files
    assert {name_of(Path(name))[1] for name in files} >= set(ids[:6])


def test_a_death_leaves_the_marker_and_the_exit_code(tmp_path: Path) -> None:
    """As its runner does: `pending_file`, and the signal in log.txt."""
    deaths = [Result.CRASH, Result.OUT_OF_MEMORY, Result.TIMEOUT]
    rows = [_dead(each, f"o{place}") for place, each in enumerate(deaths)]
    folder = _written(tmp_path, rows)
    files = sorted(folder.glob("*.json"))
    assert [json.loads(each.read_text()) for each in files] == [{"pending_file": 1}] * 3
    assert (folder / "log.txt").read_text().splitlines() == [
        "Exit code: -11",
        "Exit code: -6",
        "Exit code: -14",
    ]


def test_hostile_names_stay_in_the_folder(tmp_path: Path) -> None:
    """An id, a config or an engine's name cannot leave the folder."""
    hostile = row(id="../../x/\n", config="../../y", engine="../../e 1")
    folder = _written(tmp_path, [hostile])
    assert folder.parent == tmp_path / "out"
    assert len(list(folder.glob("*.json"))) == 1


def test_a_run_without_masks_has_none(tmp_path: Path) -> None:
    """The fault names the task that was not run."""
    run = open_run(write_run(tmp_path / "run", [row(task="probe")]))
    with pytest.raises(NoInput, match="masks"):
        write_maskbench(run, tmp_path / "out")


_SCRIPT = Path(os.environ.get("CSBDATA_MASKBENCH", "/nowhere")).joinpath(
    "maskbench", "scripts", "maskbench_results.py"
)


@pytest.mark.slow
@pytest.mark.skipif(
    not _SCRIPT.is_file(), reason="not run: CSBDATA_MASKBENCH names no checkout"
)
def test_its_script_of_results_prints_its_table(tmp_path: Path) -> None:
    """Of two engines, with its counts of our files."""
    engines: list[UntypedJson] = [
        {"engine": f"{name} 1.0 faithful", "name": name, "version": "1.0"}
        for name in ("xgrammar", "llguidance")
    ]
    rows = [
        row(engine=engine["engine"], id=f"o{place}", walks=walks)
        for engine in engines
        for place, walks in enumerate(
            [(accepted(20_000_000), blocked()), (accepted(valid=False),)]
        )
    ]
    head = {**HEAD, "engines": engines}
    run = open_run(write_run(tmp_path / "run", rows, head))
    folders = write_maskbench(run, tmp_path / "out")
    command: list[str | Path] = [sys.executable, _SCRIPT, *folders]
    said = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    table = [line.split("|")[1:-1] for line in said.splitlines() if line[:1] == "|"]
    cells = {line[0].strip(): [cell.strip() for cell in line[1:]] for line in table}
    assert cells["metric"] == ["llguidance 1.0 faithful", "xgrammar 1.0 faithful"]
    assert cells["passing"] == cells["invalidation error"] == ["1", "1"]
    assert cells["tokens"] == ["11", "11"]
    assert cells["TBM p100"] == ["20,001", "20,001"]


def test_an_engine_that_maskbench_does_not_know_has_an_id_of_its_own(
    tmp_path: Path,
) -> None:
    """It is taken for none of those that it knows."""
    folder = _written(tmp_path, [row()])
    assert json.loads((folder / "meta.txt").read_text())["id"] == "alpha+1.0"
