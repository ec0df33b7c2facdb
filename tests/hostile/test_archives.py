"""Archives that are broken, odd or too large, and texts that are not what they seem."""

from __future__ import annotations

import tarfile
import time
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason, Rejected
from curation.download import archives
from curation.download.archives import read_archive, unpack
from curation.download.packs import open_pack, write_pack
from curation.json.text import MAX_DEPTH, canonical, parse, write
from curation.system.errors import BadArchive, BadData, NoInput
from curation.workers.limits import too_big, too_many
from tests.curation.archives_made import (
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
    from collections.abc import Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson

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


#: Seconds that no text here may take; quadratic reading would take minutes.
LINEAR = 10.0
#: Texts by what is said of them; None is read.
_TEXTS: Mapping[Reason | None, tuple[bytes, ...]] = {
    # Foreign encodings, overlong forms and half surrogates.
    Reason.BAD_ENCODING: (
        b'{"a": "\xff"}', b'{"a": "\xc0\xaf"}', b'{"a": "\xed\xa0\x80"}',
        b'{"caf\xe9": 1}',
        *('{"a": 1}'.encode(f"utf-{form}") for form in ("16", "16-le", "16-be", "32")),
        rb'{"a": "\ud800"}', rb'{"a": "\udc00\ud800"}', rb'{"\uDBFF": 1}',
        rb'["\ud83d x \ude00"]',
    ),
    # Comments, trailing commas, cut texts and dialects of JSON.
    Reason.NOT_JSON: (
        b"", b"   ", b"{", b'{"a": 1', b'{"a": 1} x', b'{"a": 1}{"b": 2}', b'{"a": 1,}',
        b"[1, 2,]", b"{'a': 1}", b"{a: 1}", b'// a comment\n{"a": 1}', b'{"a": 0x10}',
        b'{"a": 1 /* a comment */}', b'{"a": +1}', b'{"a": .5}', b'{"a": 5.}',
        b'{"a": 01}',
        b'{"a": 1e}', b'{"a": "line\nbreak"}', b'{"a": "\\x41"}', b'{"a": "\\u12"}',
        "{\u00a0}".encode(), '{"a": \u0661}'.encode(), b"undefined", b"True",
        b"<!DOCTYPE html>", b"NaN", b"-Infinity", b"[1, NaN]", b'{"a": "x\0y"}',
        b'{"abc": 1}\0',
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
    ),
    # Names are equal however they are escaped and however deep.
    Reason.DUPLICATE_KEYS: (
        b'{"a": 1, "a": 1}', b'{"x": [{"b": 1, "c": 2, "b": 3}]}',
        rb'{"a": 1, "\u0061": 2}', b'{"": 1, "": 2}',
    ),
    # Neither infinity nor zero, nor digits that take quadratic time.
    Reason.NUMBER_OUT_OF_RANGE: (
        b"1e400", b"-1e400", b"1" + 400 * b"0" + b".0", b"1" * 4301,
        b"-" + b"9" * 1_000_000,
        b"0e9999999999", b"1e-99999999999999999999", b"0.1e-" + b"9" * 5000,
    ),
    Reason.TOO_DEEP: (
        b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), b'{"a":[' * 200 + b"]}" * 200,
    ),
    Reason.LFS_POINTER: (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    ),
    None: (
        b'\xef\xbb\xbf{"a": 1}', rb'["\u0000", "\ud83d\ude00"]', b"null", b"true",
        '{"é": 1, "e\u0301": 2}'.encode(), b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
    ),
}  # fmt: skip


def _reason(content: bytes) -> Reason | None:
    value = parse(content)
    return value.reason if isinstance(value, Rejected) else None


def test_a_text_has_its_reason(subtests: pytest.Subtests) -> None:
    """What is no JSON is named so, at once; no text is a crash."""
    started = time.process_time()
    for reason, texts in _TEXTS.items():
        for text in texts:
            with subtests.test(reason=reason, text=text[:60]):
                assert _reason(text) is reason
    assert time.process_time() - started < LINEAR


def test_f14_the_detail_says_where_the_text_breaks() -> None:
    """A person finds the place by line and column."""
    value = parse(b'{\n  "a": 1,\n}')
    assert isinstance(value, Rejected)
    assert "(line 3, column 1)" in value.detail


@pytest.mark.parametrize("number", [2**53 + 1, -(2**64) - 1, 10**4299])
def test_f17_integers_are_exact_at_any_size(number: int) -> None:
    """No integer is rounded by reading, writing or canonicalising."""
    value = parse(b'{"maximum": %d}' % number)
    assert value == {"maximum": number}
    assert write(value) == f'{{"maximum": {number}}}'
    assert canonical(value) == b'{"maximum":%d}' % number


@pytest.mark.parametrize(
    "number",
    ["0e999999999", "1e-999999999", "1." + "0" * 1_000_000, "0." + "1" * 1_000_000],
)
def test_f17_long_and_tiny_numbers_are_canonical_in_linear_time(number: str) -> None:
    """A number's canonical form is never expanded to its exponent's length."""
    started = time.process_time()
    value: UntypedJson = parse(number.encode())
    assert len(canonical(value)) <= len(number) + 10
    assert time.process_time() - started < LINEAR


def test_f18_wide_and_long_texts_end_at_the_limits() -> None:
    """The limit on bytes is looked at before the parser, that on nodes after it."""
    long = b'"' + b"x" * (17 * 2**20) + b'"'
    wide: UntypedJson = [0] * 1_000_000
    for verdict in (too_big(long), too_many(wide)):
        assert verdict is not None
        assert verdict.reason is Reason.TOO_LARGE


def test_f18_many_escapes_and_many_duplicates_take_linear_time() -> None:
    """Neither escapes nor repeated names make reading quadratic."""
    started, count = time.process_time(), 200_000
    assert parse(b'"' + rb"\u0041" * count + b'"') == "A" * count
    names = b",".join([b'"a":1'] * count)
    assert _reason(b"{" + names + b"}") is Reason.DUPLICATE_KEYS
    assert time.process_time() - started < LINEAR
