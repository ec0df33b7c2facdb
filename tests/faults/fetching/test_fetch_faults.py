"""Servers that fail, lie or dawdle."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from curation.download.acquire import (
    Acquired,
    FetchSettings,
    UnavailableArchive,
    acquire,
)
from curation.system.errors import CannotCreate, WrongDigest
from tests.archives_made import FILES, github_pin, github_tarball, hub_pin
from tests.loopback import body, status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loopback import Handler, Server

TARBALL = github_tarball()
PIN = github_pin()
PATH = f"/{PIN.repository}/tar.gz/{PIN.commit}"


def _left(settings: FetchSettings) -> list[str]:
    """Return the files of the cache, locks apart."""
    return [
        file.name
        for file in settings.cache.rglob("*")
        if file.is_file() and file.suffix != ".lock"
    ]


def _got(
    server: Server, settings: FetchSettings, *answers: Callable[[Handler], None]
) -> Acquired:
    server.on(PATH, *answers)
    got = acquire(PIN, settings)
    assert isinstance(got, Acquired), got
    return got


def _missed(
    server: Server, settings: FetchSettings, *answers: Callable[[Handler], None]
) -> UnavailableArchive:
    server.on(PATH, *answers)
    got = acquire(PIN, settings)
    assert isinstance(got, UnavailableArchive), got
    assert "\n" not in got.why
    assert _left(settings) == []
    return got


def test_an_archive_is_fetched_once(server: Server, settings: FetchSettings) -> None:
    """From upstream first, then from the cache, without a word to the network."""
    got = _got(server, settings, body(TARBALL))
    assert (got.origin, got.route, got.digest) == ("upstream", "upstream", PIN.digest)
    assert _left(settings) == [got.pack.name]
    again = acquire(PIN, replace(settings, offline=True))
    assert isinstance(again, Acquired)
    assert (again.route, again.pack, len(server.asked)) == ("cache", got.pack, 1)


@pytest.mark.parametrize(
    "broken",
    [
        body(TARBALL[:100], Content_Length=str(len(TARBALL))),
        lambda handler: handler.connection.shutdown(socket.SHUT_RDWR),
    ],
    ids=["cut", "hung up"],
)
def test_a_broken_transfer_is_retried_then_given_up(
    broken: Callable[[Handler], None], server: Server, settings: FetchSettings
) -> None:
    """Two failures are survived; with failures only, no partial file is left."""
    missed = _missed(server, settings, broken)
    assert "broke off" in missed.why
    assert len(server.asked) == 4
    _got(server, settings, broken, broken, body(TARBALL))


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


@pytest.mark.parametrize("code", [429, 503])
def test_a_wait_is_as_long_as_the_server_asks_for(
    code: int, server: Server, settings: FetchSettings
) -> None:
    """Not merely as long as our own pauses are."""
    start = time.monotonic()
    _got(server, settings, status(code, Retry_After="1"), body(TARBALL))
    assert time.monotonic() - start >= 1


def test_a_long_wait_is_left_to_the_user(
    server: Server, settings: FetchSettings
) -> None:
    """Nobody waits for an hour: exit code 75 and the seconds asked for."""
    missed = _missed(server, settings, status(429, Retry_After="3600"))
    assert missed.exit_code == 75
    assert "asks to wait 3,600 seconds" in missed.why
    assert len(server.asked) == 1


@pytest.mark.parametrize(("code", "exit_code"), [(503, 69), (429, 75)])
def test_a_server_that_goes_on_failing_is_given_up(
    code: int, exit_code: int, server: Server, settings: FetchSettings
) -> None:
    """After the last attempt, with its status; a rate limit may pass later."""
    missed = _missed(server, settings, status(code))
    assert str(code) in missed.why
    assert missed.exit_code == exit_code
    assert len(server.asked) == 4


def test_a_host_that_does_not_answer_is_asked_once(settings: FetchSettings) -> None:
    """The next archive of that publisher is given up at once."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        settings = replace(settings, github=f"http://127.0.0.1:{port}")
        for why in ("does not answer (", "did not answer before"):
            got = acquire(PIN, settings)
            assert isinstance(got, UnavailableArchive)
            assert why in got.why


def test_a_redirect_is_followed(server: Server, settings: FetchSettings) -> None:
    """A publisher may keep its files elsewhere."""
    server.on("/elsewhere", body(TARBALL))
    _got(server, settings, status(302, Location="/elsewhere"))
    assert server.asked == [PATH, "/elsewhere"]


def test_a_commit_that_is_gone_is_unavailable(
    server: Server, settings: FetchSettings
) -> None:
    """Named without the credentials of an address, exit code 69."""
    base = server.base.replace("//", "//someone:secret@")
    missed = _missed(server, replace(settings, github=base), status(404))
    assert missed.exit_code == 69
    assert "no longer there" in missed.why
    assert PIN.commit in missed.why
    assert "secret" not in missed.why


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
        missed = acquire(pin, settings)
        assert isinstance(missed, UnavailableArchive)
        assert "HF_HUB_OFFLINE" in missed.why
    with pytest.raises(WrongDigest, match=pin.digest):
        acquire(pin, settings)
    assert isinstance(acquire(pin, settings), Acquired)
    assert server.asked == [path, path]
