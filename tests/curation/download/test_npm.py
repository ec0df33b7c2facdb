"""A package's tarball through the user's npm: what it gives, and what it may not."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download import packages
from curation.download.http import Unreachable
from curation.download.packages import download_package
from curation.download.pins import ArchiveKind
from curation.system.errors import TemporarilyUnavailable, Unavailable, WrongDigest
from tests.archives_made import github_pin

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"a tarball"
PIN = replace(
    github_pin(),
    kind=ArchiveKind.NPM,
    repository="@someone/things",
    commit="1.2.3",
    file="someone-things-1.2.3.tgz",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
GIVES = f"printf '%s' '{CONTENT.decode()}' > {PIN.file}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder for what is downloaded."""
    made = tmp_path / "downloads"
    made.mkdir()
    return made


def _npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called npm, and no other, on the path."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")


def test_npm_is_told_the_exact_version_and_runs_no_script(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has its own settings, and of ours only what others may know."""
    heard = tmp_path / "heard"
    script = f'echo "$@" "$npm_config_registry" "[$HF_TOKEN]" > {heard}\n{GIVES}'
    _npm(tmp_path, monkeypatch, script)
    monkeypatch.setenv("npm_config_registry", "registry.of.the.user")
    monkeypatch.setenv("HF_TOKEN", "not for others")
    assert download_package(PIN, folder).read_bytes() == CONTENT
    told = f"pack {PIN.repository}@{PIN.commit} --ignore-scripts --loglevel=error"
    assert heard.read_text() == f"{told} registry.of.the.user []\n"


def test_another_tarball_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both digests in the message."""
    _npm(tmp_path, monkeypatch, f"echo other > {PIN.file}")
    with pytest.raises(WrongDigest, match=PIN.sha256):
        download_package(PIN, folder)


@pytest.mark.parametrize(
    "script", ["echo 'npm error code ECONNREFUSED' >&2; exit 1", "exit 0"]
)
def test_what_npm_cannot_get_is_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Whether it fails or only gives nothing, the registry does not answer."""
    _npm(tmp_path, monkeypatch, script)
    with pytest.raises(Unreachable, match=r"npm cannot get @someone/things@1\.2\.3"):
        download_package(PIN, folder)


def test_a_package_that_is_not_there_says_nothing_of_others(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry has answered."""
    _npm(tmp_path, monkeypatch, "echo 'npm error code E404' >&2; exit 1")
    with pytest.raises(Unavailable, match=r"1\.2\.3 \(npm error code E404\)") as caught:
        download_package(PIN, folder)
    assert not isinstance(caught.value, Unreachable)


def test_without_npm_a_mirror_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file that it must hold."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=f"put {PIN.file} into a mirror"):
        download_package(PIN, folder)


def test_an_npm_that_hangs_is_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At its deadline; the same command may succeed later."""
    _npm(tmp_path, monkeypatch, "sleep 60")
    monkeypatch.setattr(packages, "DEADLINE", 0.2)
    with pytest.raises(TemporarilyUnavailable, match="did not end within"):
        download_package(PIN, folder)
