"""Folders that are replaced as a whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from curation.system.atomic_folders import atomic_folder, recover, refuse_foreign
from curation.system.errors import CannotCreate


def test_a_folder_takes_its_name_at_the_end_of_the_block(tmp_path: Path) -> None:
    """Until then its name does not exist; then it is complete."""
    out = tmp_path / "some" / "out"
    with atomic_folder(out) as folder:
        (folder / "manifest.json").write_text("1")
        (folder / "config").mkdir()
        (folder / "config" / "rows").write_text("rows")
        assert not out.exists()
    assert (out / "config" / "rows").read_text() == "rows"
    assert [each.name for each in out.parent.iterdir()] == ["out"]


def test_an_older_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Nothing of the old folder remains in the new one."""
    for name in ("old", "new"):
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "manifest.json").touch()
            (folder / name).touch()
    names = {each.name for each in (tmp_path / "out").iterdir()}
    assert names == {"manifest.json", "new"}


@pytest.mark.skipif(sys.platform != "linux", reason="no swap of two names there")
def test_names_are_swapped_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no moment in which the folder has no name."""
    for name in ("old", "new"):
        with atomic_folder(tmp_path / "out", marker="old") as folder:
            (folder / name).touch()
        monkeypatch.delattr(Path, "rename", raising=False)
    assert (tmp_path / "out" / "new").exists()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_block_that_raises_leaves_the_old_folder(
    tmp_path: Path, error: type[BaseException]
) -> None:
    """A failed build changes nothing and leaves nothing behind."""
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "manifest.json").write_text("old")

    def build() -> None:
        with atomic_folder(tmp_path / "out") as folder:
            (folder / "manifest.json").write_text("new")
            raise error

    with pytest.raises(error):
        build()
    assert (tmp_path / "out" / "manifest.json").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_ours_is_never_replaced(tmp_path: Path) -> None:
    """Someone's files are not a build; an empty folder may become one."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis").write_text("years of work")
    (tmp_path / "file").write_text("a file")
    (tmp_path / "empty").mkdir()
    for name in ("home", "file"):
        with (
            pytest.raises(CannotCreate, match="holds something else"),
            atomic_folder(tmp_path / name),
        ):
            pass
    with atomic_folder(tmp_path / "empty") as folder:
        (folder / "manifest.json").touch()
    assert (tmp_path / "home" / "thesis").read_text() == "years of work"
    assert (tmp_path / "empty" / "manifest.json").exists()


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    """What is replaced is the folder that the link leads to."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "manifest.json").touch()
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "manifest.json").exists()


def test_a_link_to_itself_is_no_place(tmp_path: Path) -> None:
    """It is refused before the work, whose result could not be written."""
    (tmp_path / "out").symlink_to("out")
    with pytest.raises(CannotCreate, match="a link to itself"):
        refuse_foreign(tmp_path / "out")
    with (
        pytest.raises(CannotCreate, match="a link to itself"),
        atomic_folder(tmp_path / "out"),
    ):
        pass


def test_what_was_set_aside_is_put_back(tmp_path: Path) -> None:
    """Killed between two renamings, the old folder is whole; else it is a leftover."""
    out, aside = tmp_path / "[o]ut", tmp_path / ".[o]ut.7.replaced"
    for there in (False, True):
        aside.mkdir()
        (aside / "rows").write_text(f"old {there}")
        recover(out)
        assert (out / "rows").read_text() == "old False"
        assert not aside.exists()


_ENDS = (".unfinished", ".replaced")


def test_what_a_killed_process_left_goes_with_the_next_folder(tmp_path: Path) -> None:
    """Another folder that is being written stays."""
    others = {f".{name}.7{end}" for name in ("out", "[o]ut.b") for end in _ENDS}
    for name in {f".[o]ut.7{end}" for end in _ENDS} | others:
        (tmp_path / name).mkdir()
    with atomic_folder(tmp_path / "[o]ut") as folder:
        (folder / "manifest.json").touch()
    assert {each.name for each in tmp_path.iterdir()} == {*others, "[o]ut"}


def test_without_a_swap_of_names_the_old_folder_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the new one cannot take the name then, the old one comes back whole."""
    out, rename = tmp_path / "out", Path.rename
    # A file system may refuse to exchange two names.
    refusing = SimpleNamespace(renameat2=lambda *_names: -1)
    monkeypatch.setattr("ctypes.CDLL", lambda _library: refusing)

    def fail(path: Path, to: Path) -> Path:
        if path.name.endswith(".unfinished"):
            raise OSError("no room")
        return rename(path, to)

    for content in ("old", "new"):
        with atomic_folder(out) as folder:
            (folder / "manifest.json").write_text(content)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(CannotCreate), atomic_folder(out) as folder:
        (folder / "manifest.json").write_text("newer")
    monkeypatch.undo()
    recover(out)
    assert (out / "manifest.json").read_text() == "new"


def test_all_of_a_folder_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves no folder of empty files, and does not lose the name."""
    out, flushed = tmp_path / "out", []

    def note(handle: int) -> None:
        flushed.append((os.fstat(handle).st_ino, out.exists()))

    monkeypatch.setattr(os, "fsync", note)
    with atomic_folder(out) as folder:
        (folder / "config").mkdir()
        (folder / "config" / "rows").write_text("rows")
    whole = {each.stat().st_ino for each in (out, *out.rglob("*"))}
    assert {number for number, named in flushed if not named} == whole
    assert flushed[-1] == (tmp_path.stat().st_ino, True)
