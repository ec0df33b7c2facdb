"""The signature of a folder: whose it is, of what, and what is none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.packaging.derived_files import differing_files, rebuild, sign_folder
from curation.packaging.signature import (
    FILE,
    SigningKey,
    require_public_key,
    signature_fault,
    signed_sums,
)
from curation.system.errors import BadData, NoInput
from tests.signing import OTHERS_KEY, PUBLIC_KEY, write_key

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = "2.1.0"
# The documentation of minisign-verify, which its author wrote, signs the word "test".
_PUBLISHED_KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
_PUBLISHED = """untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1633700835\tfile:test\tprehashed
wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a list of digests."""
    made = tmp_path / "folder"
    made.mkdir()
    (made / "SHA256SUMS").write_text(f"{'0' * 64}  a\n")
    return made


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    """A secret key without a password."""
    return write_key(tmp_path / "minisign.key")


def _sign(folder: Path, key: SigningKey) -> None:
    (folder / FILE).write_bytes(signed_sums(folder, key, _VERSION))


def test_what_minisign_signed_is_read(folder: Path) -> None:
    """A signature that another program made holds here."""
    (folder / "SHA256SUMS").write_text("test")
    (folder / FILE).write_text(_PUBLISHED)
    assert signature_fault(folder, _PUBLISHED_KEY) == ""
    (folder / "SHA256SUMS").write_text("tests")
    assert "signature verification failed" in signature_fault(folder, _PUBLISHED_KEY)


@pytest.mark.parametrize("with_password", [False, True])
def test_a_signature_holds_for_one_list_and_one_key(
    folder: Path, tmp_path: Path, *, with_password: bool
) -> None:
    """Another list, another key or another comment, and it holds no more."""
    _sign(folder, write_key(tmp_path / "key", with_password=with_password))
    assert signature_fault(folder, PUBLIC_KEY) == ""
    assert "incompatible key" in signature_fault(folder, OTHERS_KEY)
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(text.replace(f"version:{_VERSION}", "version:9.0.0"))
    assert "verification failed" in signature_fault(folder, PUBLIC_KEY)
    (folder / FILE).write_text(text)
    (folder / "SHA256SUMS").write_text("")
    assert "verification failed" in signature_fault(folder, PUBLIC_KEY)


def test_the_same_list_gives_the_same_bytes(folder: Path, key: SigningKey) -> None:
    """So that a push of a signed folder finds everything there."""
    assert signed_sums(folder, key, _VERSION) == signed_sums(folder, key, _VERSION)


@pytest.mark.parametrize("content", ["", "\n\n\n\n", "x" * 9_999, _PUBLISHED[:-9]])
def test_what_is_no_signature_is_said(folder: Path, content: str) -> None:
    """Missing, cut or anything else: one sentence, and no traceback."""
    assert "missing" in signature_fault(folder, PUBLIC_KEY)
    (folder / FILE).write_text(content)
    assert "no signature" in signature_fault(folder, PUBLIC_KEY)


def test_a_wrong_password_is_said(folder: Path, tmp_path: Path) -> None:
    """With the key's path."""
    key = write_key(tmp_path / "key", with_password=True)
    with pytest.raises(BadData, match="wrong password"):
        signed_sums(folder, replace(key, password=lambda: "x"), _VERSION)


def test_a_key_among_the_files_is_refused(folder: Path) -> None:
    """A push would publish it, by whatever path the folder is named."""
    key = write_key(folder / "minisign.key")
    link = folder.with_name("link")
    link.symlink_to(folder)
    with pytest.raises(BadData, match="among the files"):
        signed_sums(link, key, _VERSION)


def test_what_is_no_key_is_refused(folder: Path, tmp_path: Path) -> None:
    """A text, a file of something else, a file that is not there."""
    for text in ("", "RW"):
        with pytest.raises(NoInput, match="no public key"):
            require_public_key(text)
    with pytest.raises(BadData, match="no public key"):
        require_public_key(str(folder / "SHA256SUMS"))
    absent = SigningKey(path=tmp_path / "absent", password=str)
    with pytest.raises(NoInput):
        signed_sums(folder, absent, _VERSION)
    wrong = SigningKey(path=folder.parent / "x", password=str)
    wrong.path.write_text("x")
    with pytest.raises(BadData, match="cannot sign"):
        signed_sums(folder, wrong, _VERSION)


@pytest.mark.slow
def test_a_card_drops_the_signature_of_another_list(
    built: Path, key: SigningKey
) -> None:
    """It stays where nothing changes, and no list of files has it."""
    sign_folder(built, key)
    rebuild(built)
    assert signature_fault(built, PUBLIC_KEY) == ""
    assert differing_files(built) == []
    (built / "CHANGELOG.md").write_text("# Changelog\n")
    rebuild(built)
    assert not (built / FILE).exists()
    sums = (built / "SHA256SUMS").read_text() + (built / "manifest.json").read_text()
    assert FILE not in sums
