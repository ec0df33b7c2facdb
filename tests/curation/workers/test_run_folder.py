"""The run folder: locked, fingerprinted, whole or absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.errors import TemporarilyUnavailable
from curation.workers.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_completion_is_found_by_the_next_run(tmp_path: Path) -> None:
    """What was stored under a fingerprint is there under the same."""
    with RunFolder.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") is None
        run.store("batch-0", b"\n{}\n\0")
    with RunFolder.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") == b"\n{}\n\0"


def test_a_second_holder_of_a_folder_is_turned_away(tmp_path: Path) -> None:
    """One line, exit code 75; the folder is free again afterwards."""
    with RunFolder.open(tmp_path, "f1"):
        with (
            pytest.raises(TemporarilyUnavailable, match="another run") as caught,
            RunFolder.open(tmp_path, "f1"),
        ):
            pass
        assert caught.value.exit_code == 75
        assert "\n" not in str(caught.value)
    with RunFolder.open(tmp_path, "f2"):
        pass


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:0],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content.replace(b"f1", b"f9"),
        lambda content: content.partition(b"\n")[2],
        lambda content: b"\0" * len(content),
    ],
)
def test_a_damaged_completion_is_none(tmp_path: Path, damage: object) -> None:
    """A file's presence proves nothing: its bytes must have their digest."""
    assert callable(damage)
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        file.write_bytes(damage(file.read_bytes()))
        assert run.done("batch-0") is None


def test_a_completion_under_another_name_is_none(tmp_path: Path) -> None:
    """A file that was moved or copied is not taken for another batch's."""
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        file.rename(file.with_name("batch-1"))
        assert run.done("batch-1") is None


def test_what_killed_runs_left_is_removed(tmp_path: Path) -> None:
    """Unfinished files go at the next start; other fingerprints' work stays a while."""
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        torso = file.with_name(".batch-1.4711.unfinished")
        torso.write_bytes(b"hal")
    with RunFolder.open(tmp_path, "f1") as run:
        assert not torso.exists()
        assert run.done("batch-0") == b"payload"
    for other in ("f2", "f3"):
        with RunFolder.open(tmp_path, other):
            assert file.exists()
    with RunFolder.open(tmp_path, "f4"):
        assert not file.exists()
