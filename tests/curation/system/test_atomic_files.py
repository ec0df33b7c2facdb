"""Files that are whole or absent."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from curation.system.atomic_files import (
    atomic_file,
    atomic_write_bytes,
    sweep,
    sweep_tree,
    unfinished,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A reader sees the old content or the new one, and no torso is left."""
    path = tmp_path / "file"
    atomic_write_bytes(path, b"old")
    with path.open("rb") as reader:
        atomic_write_bytes(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_block_that_raises_leaves_the_old_file(tmp_path: Path) -> None:
    """What it had written by then is gone."""
    path = tmp_path / "file"
    atomic_write_bytes(path, b"old")
    with suppress(KeyError), atomic_file(path) as temporary:
        temporary.write_bytes(b"ne")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """Of one file, or anywhere in a folder, and nothing else."""
    with unfinished(tmp_path, "[a]") as ours:
        others = (".a.7.unfinished", ".[a].b.7.unfinished", "b/.c.7.unfinished")
        names = (ours.name, *others, "a", "b/c")
    (tmp_path / "b").mkdir()
    for name in names:
        (tmp_path / name).touch()
    sweep(tmp_path, "[a]")
    left = [name for name in names if (tmp_path / name).exists()]
    assert left == [*names[1:]]
    sweep_tree(tmp_path)
    assert [name for name in names if (tmp_path / name).exists()] == ["a", "b/c"]


def test_a_content_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves no empty file under the name, and no descriptor stays open."""
    path, flushed, handles = tmp_path / "file", [], []

    def note(handle: int) -> None:
        handles.append(handle)
        flushed.append((os.fstat(handle).st_ino, path.exists()))

    monkeypatch.setattr(os, "fsync", note)
    atomic_write_bytes(path, b"new")
    assert flushed == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
    for handle in handles:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)
