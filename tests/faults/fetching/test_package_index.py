"""Wheels through pip, from an index on loopback."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from curation.download import packages
from curation.download.acquire import (
    Acquired,
    FetchSettings,
    UnavailableArchive,
    acquire,
)
from curation.download.packs import open_pack
from curation.system.errors import CannotCreate, WrongDigest
from curation.system.programs import EndedProgram
from tests.archives_made import FILES, sdist, sdist_pin, wheel, wheel_pin
from tests.loopback import body, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.download.pins import ArchivePin
    from tests.loopback import Server

WHEEL = wheel()
PIN = wheel_pin(WHEEL)


@pytest.fixture
def settings(tmp_path: Path) -> FetchSettings:
    """Return settings with an empty cache and no mirror."""
    return FetchSettings(cache=tmp_path / "cache")


def _use(monkeypatch: pytest.MonkeyPatch, index: str) -> None:
    """Make an index the only one that pip knows."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", index)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run an index that has the wheel."""
    with serving() as server:
        _use(monkeypatch, f"{server.base}/simple")
        link = f'<a href="/{PIN.file}">{PIN.file}</a>'.encode()
        server.on("/simple/things/", body(link, Content_Type="text/html"))
        server.on(f"/{PIN.file}", body(WHEEL))
        yield server


def test_a_wheel_is_had_from_the_users_own_index(
    index: Server, settings: FetchSettings
) -> None:
    """By exact version; the origin is the index, and pip keeps nothing."""
    got = acquire(PIN, settings)
    assert isinstance(got, Acquired), got
    assert (got.origin, got.route, got.commit) == ("index", "index", "1.0")
    assert open_pack(got.pack).paths == tuple(FILES)
    assert not list(settings.cache.rglob("*.whl"))
    assert f"/{PIN.file}" in index.asked


@pytest.mark.slow
def test_f2_another_wheel_of_that_version_is_refused(
    index: Server, settings: FetchSettings
) -> None:
    """Exit code 65."""
    index.on(f"/{PIN.file}", body(wheel({"schemas/a.json": b"{}"})))
    with pytest.raises(WrongDigest, match=PIN.sha256):
        acquire(PIN, settings)
    assert not list(settings.cache.rglob("*.whl"))


def _offer(index: Server, pin: ArchivePin, content: bytes) -> None:
    link = f'<a href="/{pin.file}">{pin.file}</a>'.encode()
    index.on("/simple/things/", body(link, Content_Type="text/html"))
    index.on(f"/{pin.file}", body(content))


@pytest.mark.slow
def test_a_source_archive_is_had_from_the_users_own_index(
    index: Server, settings: FetchSettings
) -> None:
    """Even where a wheel of that version is there too; its outer folder is gone."""
    content = sdist()
    pin = sdist_pin(content)
    _offer(index, pin, content)
    got = acquire(pin, settings)
    assert isinstance(got, Acquired), got
    assert (got.origin, got.route, got.commit) == ("index", "index", "1.0")
    assert open_pack(got.pack).paths == tuple(FILES)


def test_f2_nothing_of_another_source_archive_is_run(
    index: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """Exit code 65, before its build backend could say anything."""
    trace = tmp_path / "was-run"
    other = sdist(backend=f"open({str(trace)!r}, 'w')".encode())
    pin = sdist_pin(sdist())
    _offer(index, pin, other)
    with pytest.raises(WrongDigest, match=pin.sha256):
        acquire(pin, settings)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", 73),
        ("ERROR: Could not install: [Errno 122] Disk quota exceeded", 73),
        ("ERROR: something else", None),
    ],
)
def test_f36_a_cut_file_of_a_pip_that_failed_is_no_wrong_digest(
    words: str,
    code: int | None,
    settings: FetchSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk is called a full disk, with exit code 73; pip's exit code counts."""

    def full(_command: object, _seconds: float, **given: object) -> EndedProgram:
        folder = given["folder"]
        assert isinstance(folder, Path)
        (folder / PIN.file).write_bytes(WHEEL[:100])
        return EndedProgram(words, 1)

    monkeypatch.setattr(packages, "run_to_end", full)
    if code is None:
        got = acquire(PIN, settings)
        assert isinstance(got, UnavailableArchive)
        assert "something else" in got.why
        return
    with pytest.raises(CannotCreate, match=r"things==1\.0 .*make room") as caught:
        acquire(PIN, settings)
    assert caught.value.exit_code == code


@pytest.mark.slow
def test_a_version_that_is_not_there_is_unavailable(
    index: Server, settings: FetchSettings
) -> None:
    """With pip's own last words; the index did answer and is asked again."""
    got = acquire(replace(PIN, commit="2.0"), settings)
    assert isinstance(got, UnavailableArchive)
    assert "pip cannot get things==2.0" in got.why
    assert not settings.silent
    assert index.asked


@pytest.mark.slow
def test_f4_an_index_that_does_not_answer_is_asked_once(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next wheel is given up at once."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        _use(monkeypatch, f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
        first = acquire(PIN, settings)
        monkeypatch.setattr(packages, "run_to_end", None)
        second = acquire(PIN, settings)
    assert isinstance(first, UnavailableArchive)
    assert isinstance(second, UnavailableArchive)
    assert "did not answer before" in second.why


def test_f5_pip_has_a_deadline(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed with all that it started: exit code 75."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(packages, "pip_command", lambda: sleeper)
    monkeypatch.setattr(packages, "DEADLINE", 0.3)
    got = acquire(PIN, settings)
    assert isinstance(got, UnavailableArchive)
    assert (got.exit_code, "did not end" in got.why) == (75, True)


def test_f60_pip_is_not_given_the_tokens_of_others(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it does not need it does not see."""
    monkeypatch.setenv("HF_TOKEN", "planted")
    report = tmp_path / "seen"
    script = f"import os; open({str(report)!r}, 'w').write(str(dict(os.environ)))"
    command = [sys.executable, "-c", script]
    monkeypatch.setattr(packages, "pip_command", lambda: command)
    assert isinstance(acquire(PIN, settings), UnavailableArchive)
    assert "planted" not in report.read_text()


def test_without_pip_the_next_step_is_named(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment may lack it."""
    nowhere = SimpleNamespace(find_spec=lambda _name: None)
    monkeypatch.setattr(packages, "PathFinder", nowhere)
    monkeypatch.setattr(packages, "which", lambda _name: None)
    got = acquire(PIN, settings)
    assert isinstance(got, UnavailableArchive)
    assert "ensurepip" in got.why
