"""Servers that fail, lie or dawdle, and wheels through pip from an index."""

from __future__ import annotations

import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from curation.download import http, packages
from curation.download.acquire import Acquired, UnavailableArchive, acquire
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack
from curation.system.errors import CannotCreate, WrongDigest
from curation.system.programs import EndedProgram
from tests.curation.archives_made import (
    FILES,
    github_pin,
    github_tarball,
    hub_pin,
    sdist,
    sdist_pin,
    wheel,
    wheel_pin,
)
from tests.loopback import body, serving, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.download.pins import ArchivePin
    from tests.loopback import Handler, Server

TARBALL = github_tarball()
PIN = github_pin()
PATH = f"/{PIN.repository}/tar.gz/{PIN.commit}"


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in GitHub's place."""
    with serving() as made:
        yield made


@pytest.fixture
def settings(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> FetchSettings:
    """Return settings with an empty cache, no mirror and little patience."""
    monkeypatch.setattr(http, "PAUSE", 0.01)
    return FetchSettings(cache=tmp_path / "cache", github=server.base)


def _left(settings: FetchSettings) -> list[str]:
    """Return the files of the cache, locks apart."""
    return [
        file.name
        for file in settings.cache.rglob("*")
        if file.is_file() and file.suffix != ".lock"
    ]


def _got(pin: ArchivePin, settings: FetchSettings) -> Acquired:
    got = acquire(pin, settings)
    assert isinstance(got, Acquired), got
    return got


def _missed(pin: ArchivePin, settings: FetchSettings) -> UnavailableArchive:
    got = acquire(pin, settings)
    assert isinstance(got, UnavailableArchive), got
    assert "\n" not in got.why
    assert _left(settings) == []
    return got


def test_an_archive_is_fetched_once(server: Server, settings: FetchSettings) -> None:
    """From upstream first, then from the cache, without a word to the network."""
    server.on(PATH, body(TARBALL))
    got = _got(PIN, settings)
    assert (got.origin, got.route, got.digest) == ("upstream", "upstream", PIN.digest)
    assert _left(settings) == [got.pack.name]
    again = _got(PIN, replace(settings, offline=True))
    assert (again.route, again.pack, len(server.asked)) == ("cache", got.pack, 1)


def _hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


_CUT = body(TARBALL[:100], Content_Length=str(len(TARBALL)))


@pytest.mark.parametrize(
    ("answer", "said", "exit_code", "asked"),
    [
        (_CUT, "broke off", 69, 4),
        (_hang_up, "broke off", 69, 4),
        (status(503), "503", 69, 4),
        # A rate limit may pass later; nobody waits for an hour.
        (status(429), "429", 75, 4),
        (status(429, Retry_After="3600"), "asks to wait 3,600 seconds", 75, 1),
        (status(404), "no longer there", 69, 1),
        (status(404), PIN.commit, 69, 1),
    ],
)
def test_a_server_that_goes_on_failing_is_given_up(  # noqa: PLR0913, PLR0917 (a row of the table)
    answer: Callable[[Handler], None],
    said: str,
    exit_code: int,
    asked: int,
    server: Server,
    settings: FetchSettings,
) -> None:
    """In a line that says why, without an address's credentials; no file is left."""
    base = server.base.replace("//", "//someone:secret@")
    server.on(PATH, answer)
    missed = _missed(PIN, replace(settings, github=base))
    assert said in missed.why
    assert "secret" not in missed.why
    assert (missed.exit_code, len(server.asked)) == (exit_code, asked)


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        ((_CUT, _CUT), 0),
        ((_hang_up, _hang_up), 0),
        ((status(429, Retry_After="1"),), 1),
        ((status(503, Retry_After="1"),), 1),
    ],
)
def test_a_server_that_recovers_is_waited_for(
    answers: tuple[Callable[[Handler], None], ...],
    seconds: int,
    server: Server,
    settings: FetchSettings,
) -> None:
    """As long as it asks for, not merely as long as our own pauses are."""
    start = time.monotonic()
    server.on(PATH, *answers, body(TARBALL))
    _got(PIN, settings)
    assert time.monotonic() - start >= seconds


def test_a_wrong_digest_is_refused_and_named(
    server: Server, settings: FetchSettings
) -> None:
    """Exit code 65, both digests, and nothing in the packs."""
    server.on(PATH, body(github_tarball({**FILES, "schemas/a.json": b"{}"})))
    with pytest.raises(WrongDigest, match=PIN.digest) as caught:
        acquire(PIN, settings)
    assert caught.value.exit_code == 65
    assert _left(settings) == []
    assert len(server.asked) == 1


def test_no_other_way_is_tried_after_a_wrong_digest(
    server: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """A mirror that holds something else is not silently passed over."""
    server.on(PATH, body(TARBALL))
    (tmp_path / "mirror").mkdir()
    wrong = tmp_path / "mirror" / PIN.file_names[0]
    wrong.write_bytes(github_tarball({"schemas/a.json": b"{}"}))
    with pytest.raises(WrongDigest, match=str(wrong)):
        acquire(PIN, replace(settings, mirror=wrong.parent))
    assert wrong.exists()
    assert server.asked == []


def test_a_redirect_is_followed(server: Server, settings: FetchSettings) -> None:
    """A publisher may keep its files elsewhere."""
    server.on("/elsewhere", body(TARBALL))
    server.on(PATH, status(302, Location="/elsewhere"))
    _got(PIN, settings)
    assert server.asked == [PATH, "/elsewhere"]


def test_a_cache_that_cannot_be_written_is_a_fault(
    server: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """A file where the cache should be: one line, exit code 73."""
    server.on(PATH, body(TARBALL))
    (tmp_path / "file").touch()
    with pytest.raises(CannotCreate, match="cannot be written") as caught:
        acquire(PIN, replace(settings, cache=tmp_path / "file" / "cache"))
    assert caught.value.exit_code == 73


def test_a_file_of_the_hub_is_that_of_its_revision(
    server: Server, settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other bytes at the pinned revision are a wrong digest; offline means offline."""
    monkeypatch.setattr(constants, "ENDPOINT", server.base)
    pin = hub_pin(b"[]")
    path = f"/datasets/{pin.repository}/resolve/{pin.commit}/{pin.file}"
    server.on(path, body(b"[1]"), body(b"[]"))
    with monkeypatch.context() as patched:
        patched.setattr(constants, "HF_HUB_OFFLINE", True)
        assert "HF_HUB_OFFLINE" in _missed(pin, settings).why
    with pytest.raises(WrongDigest, match=pin.digest):
        acquire(pin, settings)
    _got(pin, settings)
    assert server.asked == [path, path]


WHEEL = wheel()
WHEEL_PIN = wheel_pin(WHEEL)
_SDIST = sdist()


def _use(monkeypatch: pytest.MonkeyPatch, index: str) -> None:
    """Make an index the only one that pip knows."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", index)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def _offer(index: Server, pin: ArchivePin, content: bytes) -> None:
    link = f'<a href="/{pin.file}">{pin.file}</a>'.encode()
    index.on("/simple/things/", body(link, Content_Type="text/html"))
    index.on(f"/{pin.file}", body(content))


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run an index that has the wheel."""
    with serving() as server:
        _use(monkeypatch, f"{server.base}/simple")
        _offer(server, WHEEL_PIN, WHEEL)
        yield server


@pytest.mark.parametrize("way", ["github", "pip"])
def test_f4_a_host_that_does_not_answer_is_asked_once(
    way: str, settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next archive of that publisher, or wheel of that index, is given up."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{closed.getsockname()[1]}"
        _use(monkeypatch, f"{base}/simple")
        settings = replace(settings, github=base)
        pin = PIN if way == "github" else WHEEL_PIN
        first = _missed(pin, settings)
        monkeypatch.setattr(packages, "run_to_end", None)
        second = _missed(pin, settings)
    assert "did not answer before" in second.why
    assert way == "pip" or "does not answer (" in first.why


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pin", "content"),
    [
        (WHEEL_PIN, WHEEL),
        # Even where a wheel of that version is there too; its outer folder is gone.
        pytest.param(sdist_pin(_SDIST), _SDIST, marks=pytest.mark.slow),
    ],
    ids=["wheel", "source archive"],
)
def test_a_package_is_had_from_the_users_own_index(
    pin: ArchivePin, content: bytes, index: Server, settings: FetchSettings
) -> None:
    """By exact version; the origin is the index, and pip keeps nothing."""
    _offer(index, pin, content)
    got = _got(pin, settings)
    assert (got.origin, got.route, got.commit) == ("index", "index", "1.0")
    assert open_pack(got.pack).paths == tuple(FILES)
    assert _left(settings) == [got.pack.name]
    assert f"/{pin.file}" in index.asked


@pytest.mark.slow
def test_f2_another_wheel_of_that_version_is_refused(
    index: Server, settings: FetchSettings
) -> None:
    """Exit code 65."""
    index.on(f"/{WHEEL_PIN.file}", body(wheel({"schemas/a.json": b"{}"})))
    with pytest.raises(WrongDigest, match=WHEEL_PIN.sha256):
        acquire(WHEEL_PIN, settings)
    assert _left(settings) == []


@pytest.mark.slow
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
        (folder / WHEEL_PIN.file).write_bytes(WHEEL[:100])
        return EndedProgram(words, 1)

    monkeypatch.setattr(packages, "run_to_end", full)
    if code is None:
        assert "something else" in _missed(WHEEL_PIN, settings).why
        return
    with pytest.raises(CannotCreate, match=r"things==1\.0 .*make room") as caught:
        acquire(WHEEL_PIN, settings)
    assert caught.value.exit_code == code


@pytest.mark.slow
def test_a_version_that_is_not_there_is_unavailable(
    index: Server, settings: FetchSettings
) -> None:
    """With pip's own last words; the index did answer and is asked again."""
    missed = _missed(replace(WHEEL_PIN, commit="2.0"), settings)
    assert "pip cannot get things==2.0" in missed.why
    assert not settings.silent
    assert index.asked


def test_f5_pip_has_a_deadline(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed with all that it started: exit code 75."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(packages, "pip_command", lambda: sleeper)
    monkeypatch.setattr(packages, "DEADLINE", 0.3)
    got = _missed(WHEEL_PIN, settings)
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
    _missed(WHEEL_PIN, settings)
    assert "planted" not in report.read_text()


def test_without_pip_the_next_step_is_named(
    settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment may lack it."""
    nowhere = SimpleNamespace(find_spec=lambda _name: None)
    monkeypatch.setattr(packages, "PathFinder", nowhere)
    monkeypatch.setattr(packages, "which", lambda _name: None)
    assert "ensurepip" in _missed(WHEEL_PIN, settings).why
