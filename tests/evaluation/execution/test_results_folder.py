"""A run's folder belongs to one run, one writer at a time, and only ever grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from curation.system.errors import (
    BadConfiguration,
    CannotCreate,
    TemporarilyUnavailable,
)
from evaluation.execution.results_folder import open_results_folder
from tests.evaluation.made_runs import row

if TYPE_CHECKING:
    from pathlib import Path

_HEAD: dict[str, Any] = {"plan": "p", "shard": "1/1", "machine": {"cores": 2}}


def test_rows_are_appended_and_found_again(tmp_path: Path) -> None:
    """What was written under a fingerprint is finished, whoever asks next."""
    for number in range(3):
        with open_results_folder(tmp_path / "run", _HEAD) as out:
            assert out.finished == {f"f{each}" for each in range(number)}
            out.write(row(fingerprint=f"f{number}"))
    lines = (tmp_path / "run" / "units-1-of-1.jsonl").read_bytes()
    assert lines.count(b"\n") == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"plan": "q"}, "another question"),
        ({"shard": "1/2"}, "another question"),
        ({"machine": {"cores": 4}}, "another machine"),
    ],
)
def test_a_folder_is_of_one_run(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """Times of another machine, or answers to another question, are not mixed in."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        out.write(row())
    before = (tmp_path / "run" / "run.json").read_bytes()
    with (
        pytest.raises(BadConfiguration, match=words),
        open_results_folder(tmp_path / "run", {**_HEAD, **change}),
    ):
        pass
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """Exit 75, and the first one goes on."""
    with open_results_folder(tmp_path / "run", _HEAD) as out:
        with (
            pytest.raises(TemporarilyUnavailable, match="another run"),
            open_results_folder(tmp_path / "run", _HEAD),
        ):
            pass
        out.write(row())


def test_lines_without_a_header_are_not_taken_over(tmp_path: Path) -> None:
    """Nobody knows what they answer."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "units-1-of-1.jsonl").write_bytes(b"{}\n")
    with (
        pytest.raises(BadConfiguration, match="without its header"),
        open_results_folder(folder, _HEAD),
    ):
        pass


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where the folder should be: exit 73, with the path."""
    (tmp_path / "run").write_bytes(b"")
    with (
        pytest.raises(CannotCreate, match="run"),
        open_results_folder(tmp_path / "run", _HEAD),
    ):
        pass
