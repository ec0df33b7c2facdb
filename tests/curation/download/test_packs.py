"""Packs: many files, one table, nothing read before it is wanted."""

from __future__ import annotations

import os
import pickle
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.download.folder_files import FolderFiles, digest_of
from curation.download.packs import open_files, open_pack, write_pack
from curation.system.errors import BadArchive, BadData, NoInput

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"b/2.json": b"two", "a.json": b"one", "b-1.json": b"", "\u00e9": b"\0\xff"}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Return a pack of four files."""
    return write_pack(tmp_path / "packs", "four", FILES.items())


def test_a_pack_gives_back_what_it_was_made_of(pack: Path) -> None:
    """Paths sorted by code point, bytes as they were."""
    opened = open_pack(pack)
    assert opened.paths == tuple(sorted(FILES))
    assert {path: opened.read(path) for path in opened.paths} == FILES
    assert len(opened) == 4


@pytest.mark.parametrize("path", ["", "a", "b/2.jso", "zzz"])
def test_a_path_that_is_not_there_is_a_key_error(path: str, pack: Path) -> None:
    """As a mapping would have it."""
    with pytest.raises(KeyError):
        open_pack(pack).read(path)


def test_a_pack_is_named_after_its_digest(pack: Path) -> None:
    """The order in which files come does not matter."""
    turned = dict(reversed(FILES.items()))
    assert write_pack(pack.parent, "x", turned.items()) == pack
    assert pack.name == f"{open_pack(pack).digest}.pack"
    assert [each.name for each in pack.parent.iterdir()] == [pack.name]


def test_the_digest_is_what_sha256sum_says(tmp_path: Path) -> None:
    """Anyone can compute it with two common tools."""
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"two")
    said = subprocess.run(
        ["/bin/sh", "-c", "sha256sum a b | sha256sum"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    files = FolderFiles(tmp_path)
    assert said.stdout.split()[0] == files.digest


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=8))
def test_the_digest_tells_contents_apart(sums: dict[str, str]) -> None:
    """It depends on the pairs, not on their order."""
    pairs = list(sums.items())
    assert digest_of(pairs) == digest_of(reversed(pairs))
    assert digest_of(pairs) != digest_of([*pairs, ("\U0010ffff", "")])


def test_a_pack_travels_to_another_process(pack: Path) -> None:
    """As the path of its file."""
    opened = pickle.loads(pickle.dumps(open_pack(pack)))  # noqa: S301 # our own
    assert opened.read("a.json") == b"one"


def test_a_content_that_changed_is_noticed(pack: Path) -> None:
    """The pack is named, and what to do."""
    pack.write_bytes(pack.read_bytes().replace(b"two", b"twO"))
    with pytest.raises(BadData, match="delete it and run again"):
        open_pack(pack).read("b/2.json")


def test_what_is_no_pack_is_refused(pack: Path, tmp_path: Path) -> None:
    """A cut file, another file, no file."""
    cut = tmp_path / "cut.pack"
    cut.write_bytes(pack.read_bytes()[:-9])
    other = tmp_path / "other.pack"
    other.write_bytes(b"")
    for path in (cut, other):
        with pytest.raises(BadData, match="damaged"):
            open_pack(path)
    with pytest.raises(NoInput):
        open_pack(tmp_path / "absent.pack")


def test_a_pack_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut would leave one whose contents are lost under their digests."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_ino))
    assert write_pack(tmp_path, "x", FILES.items()).stat().st_ino == flushed[0]


def test_two_files_of_one_name_make_no_pack(tmp_path: Path) -> None:
    """And leave nothing behind."""
    with pytest.raises(BadArchive, match="this name"):
        write_pack(tmp_path, "x", [("a", b"1"), ("a", b"2")])
    assert list(tmp_path.iterdir()) == []


def test_an_empty_pack_is_a_pack(tmp_path: Path) -> None:
    """An archive of which nothing is selected."""
    assert open_pack(write_pack(tmp_path, "x", ())).paths == ()


def test_a_folder_is_read_like_a_pack(tmp_path: Path) -> None:
    """The same paths, bytes and digest."""
    for path, content in FILES.items():
        (tmp_path / "x" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / path).write_bytes(content)
    files = open_files(tmp_path / "x")
    assert files.paths == tuple(sorted(FILES))
    assert {path: files.read(path) for path in files.paths} == FILES
    assert files.digest == open_pack(write_pack(tmp_path, "y", FILES.items())).digest
    assert pickle.loads(pickle.dumps(files)).paths == files.paths  # noqa: S301 # our own
    with pytest.raises(KeyError):
        files.read("../x/a.json")


def test_a_users_file_is_no_damaged_pack(tmp_path: Path) -> None:
    """It is read as an archive that holds only it; a pack is known by its suffix."""
    (tmp_path / "a.json").write_bytes(b"{}")
    files = open_files(tmp_path / "a.json")
    assert (files.paths, files.read("a.json")) == (("a.json",), b"{}")
    (tmp_path / "a.pack").write_bytes(b"{}")
    with pytest.raises(BadData, match="damaged"):
        open_files(tmp_path / "a.pack")


def test_a_folder_is_not_left_through_a_link(tmp_path: Path) -> None:
    """Links to the outside are left out, links inside are files."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "a").write_text("a")
    (inside / "b").symlink_to(inside / "a")
    (inside / "c").symlink_to(tmp_path / "secret")
    (inside / "d").symlink_to(tmp_path)
    (inside / "e").symlink_to(inside / "nowhere")
    assert FolderFiles(inside).paths == ("a", "b")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 66."""
    with pytest.raises(NoInput, match="no such folder"):
        FolderFiles(tmp_path / "absent")
