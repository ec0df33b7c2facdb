"""The run folder: locked, fingerprinted, with pieces that are whole or absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import curation
from curation.system.errors import CannotCreate, TemporarilyUnavailable
from curation.workers.fingerprint import (
    code_digest,
    code_files,
    digest_of_files,
    fingerprint,
    versions,
)
from curation.workers.run_folder import FinishedWork, RunFolder


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


CONTENTS = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.text(), max_size=3
)


@given(CONTENTS, CONTENTS)
def test_fingerprints_are_equal_exactly_where_their_parts_are(
    one: dict[str, object], other: dict[str, object]
) -> None:
    """Nothing that decides a result can change without the fingerprint."""
    assert (fingerprint(**one) == fingerprint(**other)) is (one == other)


def test_the_fingerprint_does_not_depend_on_order() -> None:
    """Parts are named; the order in which they are given says nothing."""
    assert fingerprint(a=1, b=[2]) == fingerprint(b=[2], a=1)


def test_another_byte_of_the_code_is_another_digest(tmp_path: Path) -> None:
    """Content, name and number of the files count; where they lie does not."""
    files = [(root, path) for root, path in code_files()][::20]
    copies = [_copied(files, tmp_path / name) for name in ("one", "two")]
    one = digest_of_files(copies[0])
    assert digest_of_files(files) == one == digest_of_files(copies[1])
    for root, path in copies[1]:
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        assert digest_of_files(copies[1]) != one
        path.write_bytes(before)
        other = path.with_name("renamed")
        path.rename(other)
        renamed = [(root, other if found == path else found) for _, found in copies[1]]
        assert digest_of_files(renamed) != one
        other.rename(path)
    assert digest_of_files(copies[1][1:]) != one


def test_the_digest_of_the_code_is_that_of_its_files() -> None:
    """Nothing less enters than what `code_files` lists."""
    assert code_digest() == digest_of_files(code_files())


def _copied(files: list[tuple[Path, Path]], folder: Path) -> list[tuple[Path, Path]]:
    found = []
    for root, path in files:
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        found.append((folder, copy))
    return found


def test_the_code_is_every_module_of_ours() -> None:
    """A change anywhere in the package, or in what ships with it, is another code."""
    files = {path for _, path in code_files()}
    package = Path(curation.__file__).parent
    assert set(package.rglob("*.py")) <= files
    assert {"sources.toml", "README.md.j2"} <= {path.name for path in files}
    assert not any(
        "sample" in path.relative_to(root).parts for root, path in code_files()
    )


def test_the_versions_name_what_decides() -> None:
    """Both validators and Python itself are among them."""
    assert {"python", "jsonschema", "jsonschema-rs", "orjson"} <= versions().keys()


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
