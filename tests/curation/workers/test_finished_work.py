"""Pieces of finished work: found as they were stored, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import CannotCreate
from curation.workers.run_folder import FinishedWork

if TYPE_CHECKING:
    from pathlib import Path


def test_a_piece_is_found_under_its_own_fingerprint_and_name(tmp_path: Path) -> None:
    """No other run and no other name finds it."""
    work = FinishedWork(tmp_path, "f1")
    work.store("one", b"\n{}\n\0")
    assert work.find("one") == b"\n{}\n\0"
    assert work.find("two") is None
    assert FinishedWork(tmp_path, "f2").find("one") is None


def test_a_file_under_another_fingerprint_is_not_taken(tmp_path: Path) -> None:
    """The fingerprint stands in the file, and not only in its folder's name."""
    FinishedWork(tmp_path, "f1").store("one", b"1")
    (tmp_path / "f1").rename(tmp_path / "f2")
    assert FinishedWork(tmp_path, "f2").find("one") is None


@pytest.mark.parametrize("damaged", [b"", b"x", b"\n1", b'["f1","one",""]\n1'])
def test_a_damaged_piece_has_to_be_made_again(tmp_path: Path, damaged: bytes) -> None:
    """A file's presence proves nothing."""
    work = FinishedWork(tmp_path, "f1")
    work.store("one", b"1")
    (tmp_path / "f1" / "one").write_bytes(damaged)
    assert work.find("one") is None


def test_the_work_of_those_used_last_stays(tmp_path: Path) -> None:
    """Of other fingerprints the last used stay, found ones counting as used."""
    for number, name in enumerate(("f1", "f2", "f3")):
        FinishedWork(tmp_path, name).store("one", name.encode())
        os.utime(tmp_path / name, (number, number))
    FinishedWork(tmp_path, "f1").remove_old(keep=2)
    work = FinishedWork(tmp_path, "f4")
    work.store("one", b"4")
    work.remove_old(keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f1", "f3", "f4"]
    assert work.find("one") == b"4"
    work.remove_old(keep=0)
    assert [path.name for path in tmp_path.iterdir()] == ["f4"]


def test_a_place_that_is_no_folder_is_a_fault(tmp_path: Path) -> None:
    """Exit code 73, before any work is done in vain."""
    (tmp_path / "file").touch()
    with pytest.raises(CannotCreate, match="file"):
        FinishedWork(tmp_path / "file", "f1").remove_old(keep=1)
