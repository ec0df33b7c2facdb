"""The run folder: locked, fingerprinted, whole or absent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.errors import CannotCreate, TemporarilyUnavailable
from curation.workers.run_folder import (
    Run,
    atomic_folder,
    atomic_write_bytes,
    code_digest,
    fingerprint,
    versions,
)

if TYPE_CHECKING:
    from pathlib import Path

CONTENTS = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.text(), max_size=3
)


def test_a_completion_is_found_by_the_next_run(tmp_path: Path) -> None:
    """What was stored under a fingerprint is there under the same."""
    with Run.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") is None
        run.store("batch-0", b"\n{}\n\0")
    with Run.open(tmp_path / "run", "f1") as run:
        assert run.done("batch-0") == b"\n{}\n\0"


def test_a_second_holder_of_a_folder_is_turned_away(tmp_path: Path) -> None:
    """One line, exit code 75; the folder is free again afterwards."""
    with Run.open(tmp_path, "f1"):
        with (
            pytest.raises(TemporarilyUnavailable, match="another run") as caught,
            Run.open(tmp_path, "f1"),
        ):
            pass
        assert caught.value.exit_code == 75
        assert "\n" not in str(caught.value)
    with Run.open(tmp_path, "f2"):
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
    with Run.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        file.write_bytes(damage(file.read_bytes()))
        assert run.done("batch-0") is None


def test_a_completion_under_another_name_is_none(tmp_path: Path) -> None:
    """A file that was moved or copied is not taken for another batch's."""
    with Run.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        file.rename(file.with_name("batch-1"))
        assert run.done("batch-1") is None


def test_what_killed_runs_left_is_removed(tmp_path: Path) -> None:
    """Unfinished files and other fingerprints' completions go at the next start."""
    with Run.open(tmp_path, "f1") as run:
        run.store("batch-0", b"payload")
        (file,) = (each for each in tmp_path.rglob("batch-0"))
        torso = file.with_name(".batch-1.4711.unfinished")
        torso.write_bytes(b"hal")
    with Run.open(tmp_path, "f1") as run:
        assert not torso.exists()
        assert run.done("batch-0") == b"payload"
    with Run.open(tmp_path, "f2") as run:
        assert not file.exists()


@given(CONTENTS, CONTENTS)
def test_fingerprints_are_equal_exactly_where_their_parts_are(
    one: dict[str, object], other: dict[str, object]
) -> None:
    """Nothing that decides a result can change without the fingerprint."""
    assert (fingerprint(**one) == fingerprint(**other)) is (one == other)


def test_the_fingerprint_does_not_depend_on_order() -> None:
    """Parts are named; the order in which they are given says nothing."""
    assert fingerprint(a=1, b=[2]) == fingerprint(b=[2], a=1)


def test_the_code_has_a_digest_that_is_cheap() -> None:
    """All of our own code enters it, in well under the time of a build."""
    code_digest.cache_clear()
    started = time.perf_counter()
    digest = code_digest()
    assert len(digest) == 64
    assert time.perf_counter() - started < 5.0


def test_the_versions_name_what_decides() -> None:
    """Both validators and Python itself are among them."""
    assert {"python", "jsonschema", "jsonschema-rs", "orjson"} <= versions().keys()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A reader sees the old content or the new one, and no torso is left."""
    atomic_write_bytes(tmp_path / "file", b"old")
    atomic_write_bytes(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_folder_is_published_at_the_end_of_the_block(tmp_path: Path) -> None:
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
            pytest.raises(CannotCreate, match="not made by csbdata"),
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
