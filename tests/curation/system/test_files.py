"""Files: whole or absent, locked, bounded, summed, and named after data."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from curation.system import user_files
from curation.system.atomic_files import (
    atomic_file,
    atomic_folder,
    atomic_write_bytes,
    locked,
    recover,
    refuse_foreign,
    sweep,
    sweep_tree,
    unfinished,
)
from curation.system.checksums import (
    FILE,
    compute_sums,
    names_in,
    read_sums,
    write_sums,
)
from curation.system.errors import BadData, CannotCreate, TemporarilyUnavailable
from curation.system.user_files import MAX_BYTES, refuse_large, safe_name


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


@pytest.mark.skipif(sys.platform != "linux", reason="no swap of two names there")
def test_names_are_swapped_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no moment without the name, and nothing of the old folder is left."""
    for name in ("old", "new"):
        with atomic_folder(tmp_path / "out", marker="old") as folder:
            (folder / name).touch()
        monkeypatch.delattr(Path, "rename", raising=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


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


BUSY = TemporarilyUnavailable("in use", "here", "wait")


def test_a_second_holder_is_refused_with_the_message_given(tmp_path: Path) -> None:
    """The folder of the lock's file is made, and the fault is the caller's own."""
    file = tmp_path / "new" / "lock"
    with (
        locked(file, BUSY),
        pytest.raises(TemporarilyUnavailable, match="here: in use: wait"),
        locked(file, BUSY, before_waiting=lambda: pytest.fail("waited for")),
    ):
        pytest.fail("held twice")


def test_a_block_that_raises_lets_go(tmp_path: Path) -> None:
    """The next holder finds the lock free, while the error is still looked at."""
    file = tmp_path / "lock"
    with pytest.raises(ValueError, match="broken") as raised, locked(file, BUSY):
        raise ValueError("broken")
    with locked(file, BUSY):
        assert raised.traceback


def test_waiting_has_an_end(tmp_path: Path) -> None:
    """After the seconds given the fault is raised."""
    file = tmp_path / "lock"
    with (
        locked(file, BUSY),
        pytest.raises(TemporarilyUnavailable),
        locked(file, BUSY, wait_seconds=0.01),
    ):
        pytest.fail("held twice")


def test_a_lock_that_cannot_be_made_names_its_folder(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(CannotCreate, match=f"^{tmp_path / 'file'}: "),
        locked(tmp_path / "file" / "lock", BUSY),
    ):
        pytest.fail("no lock, no block")


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("xgrammar 0.2.8 faithful", "xgrammar+0.2.8+faithful"),
        ("llama_cpp 0.3.36 n=1", "llama_cpp+0.3.36+n=1"),
        ("gpt-4o", "gpt-4o"),
        ("2020-12 optional", "2020-12+optional"),
        ("$dynamicRef", "$dynamicRef"),
        ("a" * 100, "a" * 100),
    ],
)
def test_ordinary_names_stay_readable(name: str, kept: str) -> None:
    """Labels, models, drafts and keywords have no digest; blanks become `+`."""
    assert safe_name(name) == kept


#: Each would leave its folder, be no name, or be the name of another.
_FOREIGN = [
    *("", ".", "..", "../x", "../../x", "/x", "//x", "x/", "x\0", "x\n", "x", "-x"),
    *("\\x", "x=-1", "x=1", "x=[ ]?", "x=[ ]*", "x~", "a~b", "a-b~c8687a08aa5d"),
    *("a b", "a-b", "a+b", "a/b", "a\tb", " a b", "caf\u00e9", "cafe\u0301", "\u202e"),
    *("\ud800", "\udfff", "a" * 100, "a" * 101, "a" * 300, "a" * 299 + "b"),
]


def test_no_two_names_are_one_file(tmp_path: Path) -> None:
    """Each is a file of the folder itself, whatever the name, and no other's."""
    for name in _FOREIGN:
        (tmp_path / f"{safe_name(name)}.json").open("x").close()
    assert len([*tmp_path.iterdir()]) == len(set(_FOREIGN)) == len(_FOREIGN)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "-"))]


def test_a_device_is_refused(tmp_path: Path) -> None:
    """It has no end, and neither has a link to it."""
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    with pytest.raises(BadData, match="a device"):
        refuse_large(tmp_path / "zero.json")


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file of one byte too many; one byte less may be read."""
    path = tmp_path / "answers.jsonl"
    for size, refused in ((MAX_BYTES, False), (MAX_BYTES + 1, True)):
        with path.open("wb") as file:
            file.truncate(size)
        if refused:
            with pytest.raises(BadData, match="over the limit"):
                refuse_large(path)
        else:
            assert refuse_large(path) == path


def test_what_cannot_be_looked_at_is_left_to_its_reader(tmp_path: Path) -> None:
    """It says why: no such file, or no right to read it."""
    assert refuse_large(tmp_path / "absent") == tmp_path / "absent"


def test_an_installed_wheel_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the wheel carries comes before what happens to stand beside it."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setattr(user_files, "_SHIPPED", tmp_path)
    assert user_files.raw_folder() == tmp_path / "raw"


def test_a_damaged_installation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the folder the error says which one is missing."""
    monkeypatch.setattr(user_files, "_SHIPPED", tmp_path)
    monkeypatch.setattr(user_files, "_PACKAGE", tmp_path / "curation")
    with pytest.raises(FileNotFoundError, match="'cards'"):
        user_files.cards_folder()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Every file with its digest, sorted by name, but those of the Hub's client."""
    for folder in ("b", ".cache"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x y.parquet").write_bytes(b"rows")
    (tmp_path / "a").write_bytes(b"")
    # Of the folder alone these are git's and the Hub's.
    (tmp_path / "b" / ".gitattributes").write_bytes(b"")
    sums = compute_sums(tmp_path, names_in(tmp_path))
    write_sums(tmp_path, dict(reversed(sums.items())))
    assert read_sums(tmp_path) == {
        "a": hashlib.sha256(b"").hexdigest(),
        "b/.gitattributes": hashlib.sha256(b"").hexdigest(),
        "b/x y.parquet": hashlib.sha256(b"rows").hexdigest(),
    }
    assert list(read_sums(tmp_path)) == ["a", "b/.gitattributes", "b/x y.parquet"]


@pytest.mark.parametrize("name", ["a\u2028b", "a\x85b", "a\x0cb", "a\rb"])
def test_a_name_may_hold_what_ends_lines_elsewhere(name: str, tmp_path: Path) -> None:
    """A line of checksums ends with a line feed alone."""
    (tmp_path / name).touch()
    write_sums(tmp_path, compute_sums(tmp_path, [name]))
    assert read_sums(tmp_path) == {name: hashlib.sha256(b"").hexdigest()}


def test_sums_of_no_files_are_read_back(tmp_path: Path) -> None:
    """As an empty file, which is what is written."""
    write_sums(tmp_path, {})
    assert read_sums(tmp_path) == {}


@pytest.mark.parametrize("line", ["", "abc  x", f"{'0' * 64} x", f"{'0' * 63}g  x"])
def test_other_lines_are_refused(tmp_path: Path, line: str) -> None:
    """A line that is none of checksums is named with its number: exit 65."""
    (tmp_path / FILE).write_text(f"{'0' * 64}  good\n{line}\n")
    with pytest.raises(BadData, match=f"{FILE}:2"):
        read_sums(tmp_path)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """A file of other bytes is named: exit 65."""
    (tmp_path / FILE).write_bytes(b"\x80" + b"0" * 63 + b"  x\n")
    with pytest.raises(BadData, match=FILE):
        read_sums(tmp_path)
