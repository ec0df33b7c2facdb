"""Files of the user, of the package, of checksums, and names made of data."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from curation.system import package_data
from curation.system.checksums import (
    FILE,
    file_digest,
    names_in,
    read_sums,
    sums_of,
    write_sums,
)
from curation.system.errors import BadData
from curation.system.file_names import safe_name
from curation.system.user_files import MOST_BYTES, refuse_large

if TYPE_CHECKING:
    from pathlib import Path


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
    for size, refused in ((MOST_BYTES, False), (MOST_BYTES + 1, True)):
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


def test_a_checkout_has_them_beside_the_package() -> None:
    """`raw/` and `cards/` of a checkout are those at its root."""
    assert (package_data.raw_folder() / "sources.toml").is_file()
    assert (package_data.raw_folder() / "sample").is_dir()
    assert (package_data.cards_folder() / "README.md.j2").is_file()


def test_an_installed_wheel_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the wheel carries comes before what happens to stand beside it."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setattr(package_data, "_SHIPPED", tmp_path)
    assert package_data.raw_folder() == tmp_path / "raw"


def test_a_damaged_installation_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the folder the error says which one is missing."""
    monkeypatch.setattr(package_data, "_SHIPPED", tmp_path)
    monkeypatch.setattr(package_data, "_PACKAGE", tmp_path / "curation")
    with pytest.raises(FileNotFoundError, match="'cards'"):
        package_data.cards_folder()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Every file with its digest, sorted by name, but those of the Hub's client."""
    for folder in ("b", ".cache"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x y.parquet").write_bytes(b"rows")
    (tmp_path / "a").write_bytes(b"")
    # Of the folder alone these are git's and the Hub's.
    (tmp_path / "b" / ".gitattributes").write_bytes(b"")
    sums = sums_of(tmp_path, names_in(tmp_path))
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
    write_sums(tmp_path, sums_of(tmp_path, [name]))
    assert read_sums(tmp_path) == {name: hashlib.sha256(b"").hexdigest()}


def test_sums_of_no_files_are_read_back(tmp_path: Path) -> None:
    """As an empty file, which is what is written."""
    write_sums(tmp_path, {})
    assert read_sums(tmp_path) == {}


def test_a_large_file_is_read_in_pieces(tmp_path: Path) -> None:
    """The digest does not depend on how a file is read."""
    content = bytes(range(256)) * 10_000
    (tmp_path / "x").write_bytes(content)
    assert file_digest(tmp_path / "x") == hashlib.sha256(content).hexdigest()


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
