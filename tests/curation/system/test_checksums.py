"""`SHA256SUMS`: written and read back, and nothing else taken for it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from curation.system.checksums import (
    FILE,
    file_digest,
    names_in,
    read_sums,
    sums_of,
    write_sums,
)
from curation.system.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path


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
