"""F6, F7, F8, F12: archives that no honest hand has made, and honest oddities."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from curation.download.archives import ArchiveLimits, read_archive, unpack
from curation.download.cache import Cache
from curation.download.packs import open_pack, write_pack
from curation.download.pins import Selection
from curation.system.errors import BadArchive, NoInput, WrongDigest
from tests.archives_made import (
    FILES,
    PREFIX,
    SELECTED,
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
ANYTHING = Selection(("**",))


def _read(archive: Path, **limits: int) -> dict[str, bytes]:
    found = read_archive(archive, SELECTED, strip=True, limits=ArchiveLimits(**limits))
    return dict(found)


@pytest.mark.parametrize(
    "name",
    [
        "../schemas/a.json",
        "/schemas/a.json",
        f"{PREFIX}schemas/../../../a.json",
        f"{PREFIX}schemas//a.json",
        f"{PREFIX}./schemas/a.json",
        "C:/schemas/a.json",
        "\\\\host\\share\\a.json",
        "..\\a.json",
    ],
)
def test_f7_a_path_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    """Traversal and absolute paths end the archive, in tar and in zip."""
    tar = save(tmp_path, "x.tar.gz", tarball([GOOD, member(name, b"{}")]))
    zipped_one = save(tmp_path, "x.zip", zipped({name: b"{}"}, prefix=""))
    for archive in (tar, zipped_one):
        with pytest.raises(BadArchive, match="leads out"):
            _read(archive)


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
        tarfile.CONTTYPE,
        tarfile.DIRTYPE,
    ],
)
def test_f7_links_and_devices_are_passed_over(kind: bytes, tmp_path: Path) -> None:
    """What is no regular file is no content, wherever it points."""
    odd = member(PREFIX + "schemas/b.json", kind=kind, linkname="/etc/passwd")
    archive = save(tmp_path, "x.tar.gz", tarball([GOOD, odd]))
    assert list(_read(archive)) == ["schemas/a.json"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_f7_a_link_in_a_zip_archive_is_passed_over(kind: int, tmp_path: Path) -> None:
    """Unix modes inside a zip archive are looked at too."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        info = zipfile.ZipInfo(PREFIX + "schemas/b.json")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert _read(save(tmp_path, "x.zip", packed.getvalue())) == {}


def test_f7_nothing_is_unpacked_and_modes_are_ignored(tmp_path: Path) -> None:
    """A setuid file is bytes in a table: the disk gets one pack, no other file."""
    setuid = member(PREFIX + "schemas/b.json", FILES["schemas/b.json"], mode=0o6755)
    archive = save(tmp_path / "in", "x.tar.gz", tarball([GOOD, setuid]))
    pack = write_pack(
        tmp_path / "out", "x", read_archive(archive, SELECTED, strip=True)
    )
    assert list((tmp_path / "out").iterdir()) == [pack]
    assert not pack.stat().st_mode & 0o7111
    assert open_pack(pack).paths == tuple(FILES)


def test_f8_names_that_collide_elsewhere_live_side_by_side(tmp_path: Path) -> None:
    """Case, Unicode forms and Windows' reserved names are keys of a table."""
    names = ["A.json", "a.json", "\u00e9.json", "e\u0301.json", "CON.json", "nul.json"]
    files = {f"schemas/{name}": name.encode() for name in names}
    archive = save(tmp_path, "x.tar.gz", github_tarball(files))
    pack = open_pack(write_pack(tmp_path, "x", _read(archive).items()))
    assert {path: pack.read(path) for path in pack.paths} == files


def test_f8_a_name_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    """No pack and no digest could say it; one that nobody selects does no harm."""
    odd = {
        place: member(f"{PREFIX}{place}/caf\udce9.json") for place in ("schemas", "x")
    }
    archive = save(tmp_path, "x.tar.gz", tarball([GOOD, odd["x"]]))
    assert list(_read(archive)) == ["schemas/a.json"]
    archive = save(tmp_path, "y.tar.gz", tarball([GOOD, odd["schemas"]]))
    with pytest.raises(BadArchive, match="is no UTF-8"):
        _read(archive)


def test_f6_a_tar_bomb_stops_at_the_cap(tmp_path: Path) -> None:
    """Decompressed bytes are counted, even of files that nobody selected."""
    bomb = member(PREFIX + "zeros", b"\0" * (4 << 20))
    archive = save(tmp_path, "x.tar.gz", tarball([bomb, GOOD]))
    with pytest.raises(BadArchive, match="unpacks to more than 1,000,000 bytes"):
        _read(archive, total_bytes=1_000_000)


@pytest.mark.parametrize("form", ["gz", "xz"])
def test_f6_a_stream_bomb_stops_at_the_ratio(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Megabytes of zeros in a few kilobytes are refused before their end."""
    monkeypatch.setattr("curation.download.archives._RATIO_FREE_BYTES", 1 << 20)
    bomb = member(PREFIX + "zeros", b"\0" * (4 << 20))
    archive = save(tmp_path, f"x.tar.{form}", tarball([bomb, GOOD], form))
    with pytest.raises(BadArchive, match="times its size"):
        _read(archive)


def test_f6_a_large_file_stops_before_it_is_read(tmp_path: Path) -> None:
    """A member's announced size counts, and it cannot be longer than announced."""
    files = {"schemas/a.json": b"0" * (2 << 20)}
    tar = save(tmp_path, "x.tar.gz", github_tarball(files))
    for archive in (tar, save(tmp_path, "x.zip", zipped(files))):
        with pytest.raises(BadArchive, match="is larger than 1,000,000 bytes"):
            _read(archive, file_bytes=1_000_000)
        with pytest.raises(BadArchive, match="unpacks to more than 1,500,000"):
            _read(archive, total_bytes=1_500_000)


def test_f6_a_zip_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    """More content than the directory announces is a broken archive."""
    content = bytearray(zipped({"schemas/a.json": b"0" * 100_000}))
    directory = content.rindex(b"PK\1\2")
    content[directory + 24 : directory + 28] = struct.pack("<I", 10)
    with pytest.raises(BadArchive, match="broken"):
        _read(save(tmp_path, "x.zip", bytes(content)))


def test_f6_too_many_members_are_refused(tmp_path: Path) -> None:
    """Members are counted, selected or not."""
    many = {f"f{number}": b"" for number in range(20)}
    tar = save(tmp_path, "x.tar.gz", github_tarball(many))
    zipped_one = save(tmp_path, "x.zip", zipped(many))
    for archive in (tar, zipped_one):
        with pytest.raises(BadArchive, match="more than 10 members"):
            _read(archive, members=10)


def test_f6_a_header_of_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    """A pax header's length is looked at before its text is read."""
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 5 << 30
    content = gzip.compress(header.tobuf() + b"\0" * 1024)
    with pytest.raises(BadArchive, match="a header of more than 1 MiB"):
        _read(save(tmp_path, "x.tar.gz", content))


def test_f6_xz_cannot_ask_for_any_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dictionary beyond the limit is refused by the decompressor itself."""
    monkeypatch.setattr("curation.download.archives._XZ_MEMORY", 1 << 20)
    greedy = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 8 << 20}]
    content = lzma.compress(b"x" * 100, format=lzma.FORMAT_XZ, filters=greedy)
    with pytest.raises(BadArchive, match="Memory usage limit"):
        _read(save(tmp_path, "x.tar.xz", content))


@pytest.mark.parametrize("form", ["gz", "xz"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_f1_a_cut_archive_is_refused(form: str, part: float, tmp_path: Path) -> None:
    """However little is missing."""
    files = {
        f"schemas/{number}.json": str(number).encode() * 50 for number in range(99)
    }
    content = github_tarball(files, form)
    archive = save(tmp_path, f"x.tar.{form}", content[: int(len(content) * part)])
    with pytest.raises(BadArchive, match="broken"):
        _read(archive)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """A page of a login portal, say; a name that tells no kind; no file at all."""
    page = b"<html>please log in</html>"
    for name in ("x.tar.gz", "x.tar.xz", "x.zip", "x.rar"):
        with pytest.raises(BadArchive):
            _read(save(tmp_path, name, page))
    (tmp_path / "folder.tar.gz").mkdir()
    for name in ("absent.tar.gz", "folder.tar.gz"):
        with pytest.raises(NoInput, match="cannot be read"):
            _read(tmp_path / name)


def test_f12_pointers_in_place_of_contents_are_named(tmp_path: Path) -> None:
    """A wrong digest tells that Git LFS is the likely cause."""
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    files = {**FILES, "schemas/a.json": pointer}
    archive = save(tmp_path, "x.tar.gz", github_tarball(files))
    with pytest.raises(WrongDigest, match="1 of them Git LFS pointers"):
        unpack(github_pin(), archive, Cache(tmp_path / "cache"))
