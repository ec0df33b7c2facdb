"""A run's folder only ever grows, and knows the code that decides a row."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import curation
from curation.system.errors import CannotCreate, CsbdataError, TemporarilyUnavailable
from curation.workers.fingerprint import digest_of_files
from evaluation.masks import run as engine_run
from evaluation.masks.run import (
    MEASURING,
    WRITING,
    code_files,
    measuring_digest,
    writing_digest,
)
from evaluation.masks.run_folder import record_end, refuse_taken
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import row
from tests.evaluation.masks.opened_folder import open_results_folder
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD: dict[str, Any] = {
    "plan": "p",
    "machine": {"cores": 2, "memory_bytes": 8_000_000_000},
    "models": {"model": "m", "revision": "a"},
    "writing": "1",
    "finished": None,
}


def _refused(
    folder: Path,
    words: str,
    head: dict[str, Any] = _HEAD,
    fault: type[CsbdataError] = CannotCreate,
) -> CsbdataError:
    with (
        pytest.raises(fault, match=words) as refused,
        open_results_folder(folder, head),
    ):
        pass
    return refused.value


def test_rows_are_appended_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written under a fingerprint is finished, though it came in pieces."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:99]))
    for number in range(3):
        with open_results_folder(tmp_path / "run", _HEAD) as out:
            assert out.finished == {f"f{each}" for each in range(number)}
            out.write(row(fingerprint=f"f{number}"))
            assert f"f{number}" in out.finished
    path = tmp_path / "run" / "attempts.jsonl"
    assert path.read_bytes().count(b"\n") == 3
    assert not path.stat().st_mode & 0o111


def test_a_line_that_is_no_row_finishes_nothing(tmp_path: Path) -> None:
    """Whatever JSON it is, or none; nor does the row of an undecided case."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row(fingerprint="f"))
        out.write(row(fingerprint=""))
    with (tmp_path / "run" / "attempts.jsonl").open("ab") as file:
        file.write(b'3\n{"fingerprint\n{"torn')
    for name in ("g", "h"):
        with open_results_folder(tmp_path / "run", _HEAD) as out:
            assert out.finished == {"f", "g"} - {name}
            out.write(row(fingerprint=name))


def test_rows_are_there_at_once_and_on_the_disk_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process loses none; a power cut none that the run calls finished."""
    path, flushed = tmp_path / "run" / "attempts.jsonl", []
    monkeypatch.setattr(
        os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_ino)
    )
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row(fingerprint="f"))
        assert path.read_bytes().endswith(b"\n")
    assert flushed[-1] == path.stat().st_ino


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"plan": "q"}, "another run: other engines, or engines otherwise"),
        ({"repeats": 3}, "repeats 3, not None"),
        ({"machine": {"cores": 4}}, r"machine \(cores 4, not 2\)"),
        ({"models": {"model": "m", "revision": "b"}}, r"model \(revision b, not a\)"),
        ({"writing": "2"}, "code that writes and judges 2, not 1"),
        ({"limit": 5}, r"--limit \(5, not none\)"),
    ],
)
def test_a_folder_is_of_one_run(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """Times of another machine, or answers to another question, are not mixed in."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row())
    before = (tmp_path / "run" / "run.json").read_bytes()
    told = _refused(tmp_path / "run", words, {**_HEAD, **change})
    assert "--run-dir" in str(told.hint)
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_less_memory_is_the_same_machine(tmp_path: Path) -> None:
    """A kernel that was updated leaves 4 KiB more or less: the run goes on."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row(fingerprint="f"))
    now = {**_HEAD, "machine": {"cores": 2, "memory_bytes": 8_000_004_096}}
    with open_results_folder(tmp_path / "run", now) as out:
        assert out.finished == {"f"}


def test_the_end_of_a_run_is_written_last(tmp_path: Path) -> None:
    """Until then its header says nothing of an end."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row())
        assert open_run(tmp_path / "run").header.finished is None
        record_end(tmp_path / "run", {("alpha 1.0", "masks"): 1})
    (part,) = open_run(tmp_path / "run").header.finished.parts  # type: ignore[union-attr]  # it was just written
    assert (part.engine, part.task, part.rows) == ("alpha 1.0", "masks", 1)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """Exit 75, and the first one goes on."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        words = "another run"
        _refused(tmp_path / "run", words, fault=TemporarilyUnavailable)
        out.write(row())


def test_lines_without_a_header_are_not_taken_over(tmp_path: Path) -> None:
    """Nobody knows what they answer."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "attempts.jsonl").write_bytes(b"{}\n")
    _refused(folder, "holds something else")
    (folder / "attempts.jsonl").unlink()
    with open_results_folder(folder, _HEAD) as out:
        assert not out.finished


def test_a_place_without_rights_is_told_before_anything_is_loaded(
    tmp_path: Path,
) -> None:
    """And one with them is left as it is; whoever opens it is told as well."""
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "run", Path("/proc/nowhere/run")):
        with pytest.raises(CannotCreate, match="cannot be written"):
            refuse_taken(place)
    _refused(tmp_path / "file", "file")
    refuse_taken(tmp_path / "new" / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("content", ["[]", '"x"', "null", "1"])
def test_a_header_that_is_no_object_is_of_another_run(
    tmp_path: Path, content: str
) -> None:
    """As a damaged one is."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(content)
    _refused(tmp_path / "run", "another run")


_ROOT = Path(curation.__file__).parents[1]
#: Modules that decide nothing of a row: errors, nouns, what is remembered or printed.
_NOTHING = (
    "curation.core",
    "curation.system",
    "curation.json.values",
    "curation.json.text",
    "curation.workers.fingerprint",
)


def _names(files: list[tuple[Path, Path]]) -> set[str]:
    return {path.relative_to(root).as_posix() for root, path in files}


def _copy(folder: Path) -> Path:
    for root, path in code_files(WRITING):
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize(
    ("name", "measures"),
    table(__file__, "digests"),
)
def test_other_code_is_another_digest(
    name: str, *, measures: bool, tmp_path: Path
) -> None:
    """One byte more in what measures counts for both, in a loop or judge for writing.

    Folders may be of any depth.
    """
    copy = _copy(tmp_path)
    sets = (MEASURING, WRITING)
    before = [digest_of_files(code_files(names, copy)) for names in sets]
    (copy / name).parent.mkdir(exist_ok=True)
    with (copy / name).open("a") as file:
        file.write("#")
    after = [digest_of_files(code_files(names, copy)) for names in sets]
    assert before[0] == measuring_digest()
    assert [now != hint for now, hint in zip(after, before, strict=True)] == [
        measures,
        True,
    ]


def test_another_version_of_a_judge_is_another_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A validator that was updated may judge otherwise."""
    before = writing_digest()
    assert before not in {measuring_digest(), digest_of_files([])}
    monkeypatch.setattr(engine_run, "version", lambda name: f"{name} of tomorrow")
    assert writing_digest.__wrapped__() != before


def test_what_only_reads_is_no_part() -> None:
    """A better table asks for no new measurement."""
    names = _names(code_files(WRITING))
    assert not {name for name in names if "/reporting/" in name or "report.py" in name}
    assert "evaluation/suites/coverage/texts.py" not in names


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("curation.instances.judging.grading", WRITING),
        ("evaluation.masks.engine_worker", MEASURING),
    ],
)
def test_what_is_loaded_to_make_a_row_is_part_of_it(
    module: str, names: Sequence[str]
) -> None:
    """It decides a row, or is named here as deciding nothing."""
    code = (
        f"import sys, {module}\n"
        "for name, module in sorted(sys.modules.items()):\n"
        "    if name.split('.')[0] in ('curation', 'evaluation'):\n"
        "        print(name, module.__file__)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = dict(line.split(" ", 1) for line in said.stdout.splitlines())
    files = _names(code_files(names))
    lost = {
        name
        for name, path in loaded.items()
        if not path.endswith("__init__.py")
        and Path(path).relative_to(_ROOT).as_posix() not in files
        and not name.startswith(_NOTHING)
    }
    assert not lost
