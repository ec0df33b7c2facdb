"""The pins that ship, files of pins that are wrong, selections, and packs."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.download.folder_files import FolderFiles, digest_of
from curation.download.packs import open_files, open_pack, write_pack
from curation.download.pins import ArchiveKind, Selection, load_pins, pins_for
from curation.sources.registry import sources
from curation.system.errors import BadArchive, BadConfiguration, BadData, NoInput
from curation.system.package_data import raw_folder

if TYPE_CHECKING:
    from pathlib import Path


TABLE = """
[archive.x]
kind = "github"
repository = "a/b"
commit = "c"
paths = ["*.json"]
digest = "{digest}"
licence = "MIT"
file_licence = "MIT"
attribution = ""
citation = ""
homepage = ""
"""
GOOD = TABLE.format(digest="0" * 64)


def test_every_pin_is_exact() -> None:
    """A full commit or a version, digests, licences, and where it is from."""
    suite = load_pins(raw_folder() / "test_suite.toml")
    for pin in (*load_pins().values(), *suite.values()):
        assert re.fullmatch(r"[0-9a-f]{40}|[0-9][0-9.b]*", pin.commit), pin.name
        assert re.fullmatch(r"[0-9a-f]{64}", pin.digest)
        assert bool(pin.sha256) == (pin.kind is not ArchiveKind.GITHUB)
        assert pin.licence
        assert pin.file_licence
        assert pin.attribution
        assert pin.homepage.startswith("https://")


def test_every_archive_that_a_source_names_is_pinned() -> None:
    """And every pin is some source's."""
    named = {
        archive
        for source in sources().values()
        for chain in source.archives.values()
        for archive in chain
    }
    assert named == set(load_pins())


def test_the_names_in_a_mirror_are_those_of_the_publisher() -> None:
    """`<repo>-<commit>` in three forms, or the published file's own name."""
    pins = load_pins()
    corpus = pins["json-schema-corpus"]
    assert corpus.file_names == tuple(
        f"json-schema-corpus-{corpus.commit}{form}"
        for form in (".tar.gz", ".tar.xz", ".zip")
    )
    assert pins["kubernetes-validate"].file_names == (
        f"kubernetes_validate-{pins['kubernetes-validate'].commit}-py3-none-any.whl",
    )
    suite = load_pins(raw_folder() / "test_suite.toml")
    packaged = suite["json-schema-test-suite-of-jsonschema"]
    assert packaged.file_names == ("jsonschema-4.26.0.tar.gz",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[archive", "not TOML"),
        (GOOD + "colour = 1\n", "colour"),
        (GOOD.replace('commit = "c"\n', ""), "commit"),
        (TABLE.format(digest="12"), "digest"),
        (GOOD.replace('kind = "github"', 'kind = "zip"'), "kind"),
        (GOOD.replace('commit = "c"', "commit = 1"), "commit"),
    ],
)
def test_a_wrong_file_of_pins_is_named(text: str, why: str, tmp_path: Path) -> None:
    """With the table and the keys: exit code 78."""
    path = tmp_path / "sources.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match=why):
        load_pins(path)


def test_a_file_of_pins_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Exit code 66; and a good one is read."""
    with pytest.raises(NoInput):
        load_pins(tmp_path / "absent.toml")
    (tmp_path / "sources.toml").write_text(GOOD)
    assert list(load_pins(tmp_path / "sources.toml")) == ["x"]


def test_a_source_without_its_pin_says_what_to_add() -> None:
    """One line with the file and the table, and exit code 78."""
    with pytest.raises(BadConfiguration, match=r"'mine'.*'nothing'.*no pin") as caught:
        pins_for("mine", ["glaive", "nothing"])
    assert "[archive.nothing]" in str(caught.value)
    assert list(pins_for("glaive", ["glaive"])) == ["glaive"]


@pytest.mark.parametrize(
    ("pattern", "path", "selected"),
    [
        ("a/*.json", "a/x.json", True),
        ("a/*.json", "a/.json", True),
        ("a/*.json", "a/b/x.json", False),
        ("a/*.json", "a/x.json.txt", False),
        ("a/*.json", "b/a/x.json", False),
        ("a/**", "a/b/c", True),
        ("a/**", "ab", False),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("**/x", "ax", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("a[b]", "a[b]", True),
        ("*", "a\nb", True),
    ],
)
def test_a_pattern_means_what_a_shell_means(
    pattern: str, path: str, *, selected: bool
) -> None:
    """`*` and `?` stop at a slash, `**` does not, all else is itself."""
    assert (path in Selection((pattern,))) is selected


def test_any_pattern_is_enough_and_none_selects_nothing() -> None:
    """A selection is a union."""
    assert Selection(("a", "b")).of(["a", "b", "c"]) == ["a", "b"]
    assert "" not in Selection(())


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
