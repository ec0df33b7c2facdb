"""Archives that are broken, odd or too large."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason, Rejected
from curation.download import archives
from curation.download.archives import read_archive, unpack
from curation.download.packs import open_pack, write_pack
from curation.json.text import parse
from curation.system.errors import BadArchive, BadData, NoInput
from tests.archives_made import (
    FILES,
    PREFIX,
    github_pin,
    github_tarball,
    member,
    save,
    tarball,
    zipped,
)

if TYPE_CHECKING:
    from pathlib import Path

GOOD = member(PREFIX + "schemas/a.json", FILES["schemas/a.json"])


def _read(archive: Path) -> dict[str, bytes]:
    return dict(read_archive(github_pin(), archive))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_links_and_devices_are_passed_over(kind: bytes, tmp_path: Path) -> None:
    """What is no regular file is no content, wherever it points."""
    odd = member(PREFIX + "schemas/b.json", kind=kind, linkname="/etc/passwd")
    archive = save(tmp_path, "x.tar.gz", tarball([GOOD, odd]))
    assert list(_read(archive)) == ["schemas/a.json"]


def test_nothing_is_unpacked_beside_the_pack(tmp_path: Path) -> None:
    """Whatever a path says: names that lead out are keys of a table."""
    names = ["../../a.json", "A.json", "a.json", "\u00e9.json", "e\u0301.json"]
    files = {f"schemas/{name}": name.encode() for name in names}
    archive = save(tmp_path / "in", "x.tar.gz", github_tarball(files))
    pack = write_pack(tmp_path / "out", "x", _read(archive).items())
    assert [*(tmp_path / "out").iterdir()] == [pack]
    opened = open_pack(pack)
    assert {opened.read(path) for path in opened.paths} <= {
        name.encode() for name in names
    }


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Which of the two counts would depend on the reader."""
    archive = save(tmp_path, "x.tar.gz", tarball([GOOD, GOOD]))
    with pytest.raises(BadArchive, match="this name"):
        write_pack(tmp_path, "x", read_archive(github_pin(), archive))
    assert not list(tmp_path.glob("*.pack"))


@pytest.mark.parametrize("limit", ["FILE_BYTES", "TOTAL_BYTES"])
def test_a_file_too_large_stops_before_it_is_read(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member's announced size counts, and it cannot be longer than announced."""
    monkeypatch.setattr(archives, limit, 1000)
    files = {"schemas/a.json": b"0" * 2000}
    tar = save(tmp_path, "x.tar.gz", github_tarball(files))
    for archive in (tar, save(tmp_path, "x.zip", zipped(files))):
        with pytest.raises(BadArchive, match=r"too large at 'schemas/a\.json'"):
            _read(archive)


@pytest.mark.parametrize("form", ["gz", "xz"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_a_cut_archive_is_refused(form: str, part: float, tmp_path: Path) -> None:
    """However little is missing: it is broken, or lacks files."""
    files = {
        f"schemas/{number}.json": str(number).encode() * 50 for number in range(99)
    }
    content = github_tarball(files, form)
    archive = save(tmp_path, f"x.tar.{form}", content[: int(len(content) * part)])
    with pytest.raises(BadData, match=r"broken|not what is pinned"):
        unpack(github_pin(files), archive, tmp_path)
    assert not list(tmp_path.glob("*.pack"))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """A page of a login portal, say; no file at all."""
    page = b"<html>please log in</html>"
    for name in ("x.tar.gz", "x.tar.xz", "x.zip"):
        with pytest.raises(BadArchive):
            _read(save(tmp_path, name, page))
    (tmp_path / "folder.tar.gz").mkdir()
    for name in ("absent.tar.gz", "folder.tar.gz"):
        with pytest.raises(NoInput, match="cannot be read"):
            _read(tmp_path / name)


def test_a_git_lfs_pointer_is_kept_and_then_rejected(tmp_path: Path) -> None:
    """The bytes are what upstream holds; the parser gives the reason."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    archive = save(tmp_path, "x.tar.gz", github_tarball({"schemas/a.json": pointer}))
    rejected = parse(_read(archive)["schemas/a.json"])
    assert isinstance(rejected, Rejected)
    assert rejected.reason is Reason.LFS_POINTER
