"""F1 to F5, F9 and F10: servers that fail, lie, dawdle or point elsewhere."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import (
    Acquired,
    FetchSettings,
    UnavailableArchive,
    acquire,
)
from curation.download.allowed_hosts import HostPolicy
from curation.download.http import Network, requested_wait
from curation.download.publishers import PublisherAddresses
from curation.system.errors import (
    BadArchive,
    BadData,
    CannotCreate,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)
from tests.archives_made import FILES, github_pin, github_tarball
from tests.loopback import HASTY, body, drip, redirect, reset, status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loopback import Handler, Server

TARBALL = github_tarball()
PIN = github_pin()
PATH = f"/{PIN.repository}/tar.gz/{PIN.commit}"
#: Seconds that nothing here may take; generous, because machines are busy.
PATIENCE = 15.0


def _left(settings: FetchSettings) -> list[str]:
    """Return the files of the cache, locks apart."""
    return [
        each.name
        for each in settings.cache.rglob("*")
        if each.is_file() and each.suffix != ".lock"
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
        reset(),
        reset(TARBALL[:100], len(TARBALL)),
        body(TARBALL[:100], Content_Length=str(len(TARBALL))),
        body(TARBALL, Content_Length=str(len(TARBALL) + 7)),
    ],
    ids=["reset", "reset midway", "truncated", "length too long"],
)
def test_f1_a_broken_transfer_is_retried_then_given_up(
    broken: Callable[[Handler], None], server: Server, settings: FetchSettings
) -> None:
    """Two failures are survived; with failures only, no partial file is left."""
    missed = _missed(server, settings, broken)
    assert "broke off" in missed.why
    assert len(server.asked) == HASTY.attempts
    _got(server, settings, broken, broken, body(TARBALL))


def test_f1_a_length_too_short_is_a_cut_archive(
    server: Server, settings: FetchSettings
) -> None:
    """HTTP cannot tell, the archive can: asked once more, then refused, kept."""
    short = body(TARBALL, Content_Length=str(len(TARBALL) - 50))
    server.on(PATH, short)
    with pytest.raises(BadArchive, match="kept as") as caught:
        acquire(PIN, settings)
    assert caught.value.exit_code == 65
    assert len(server.asked) == 2
    assert [each for each in _left(settings) if not each.endswith(".refused")] == []
    _got(server, settings, short, body(TARBALL))


def test_f2_a_wrong_digest_is_refused_named_and_kept(
    server: Server, settings: FetchSettings
) -> None:
    """Exit code 65, both digests, the evidence, and nothing in the packs."""
    other = {**FILES, "schemas/a.json": b"{}"}
    server.on(PATH, body(github_tarball(other)))
    with pytest.raises(WrongDigest, match=PIN.digest) as caught:
        acquire(PIN, settings)
    assert caught.value.exit_code == 65
    assert "2 selected files" in str(caught.value)
    (evidence,) = _left(settings)
    assert evidence.endswith(".refused")
    assert evidence in str(caught.value)
    assert len(server.asked) == 1


def test_f2_no_other_way_is_tried_after_a_wrong_digest(
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


@pytest.mark.parametrize(
    "limited",
    [
        status(429, Retry_After="0"),
        status(429, RateLimit='"default";r=0;t=0'),
        status(403, RateLimit='"default";r=0;t=0'),
        status(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="1"),
        status(503, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        status(429),
    ],
)
def test_f3_a_rate_limit_is_waited_for(
    limited: Callable[[Handler], None], server: Server, settings: FetchSettings
) -> None:
    """As long as the server asks for, in any of the ways to ask."""
    _got(server, settings, limited, body(TARBALL))
    assert len(server.asked) == 2


def test_f3_an_instant_is_waited_for() -> None:
    """GitHub says when the next window begins, not how long that is."""
    instant = str(int(time.time()) + 30)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": instant}
    wait = requested_wait(403, headers)
    assert wait is not None
    assert 0 < wait <= 30
    assert requested_wait(404, {"RateLimit": '"default";r=5;t=30'}) is None
    # A proxy may have joined the answers of two servers.
    for other in ("1790000000, 1790000000", "1790000000.5", "soon", ""):
        assert requested_wait(403, {**headers, "X-RateLimit-Reset": other}) is None


def test_f3_as_long_as_the_server_asks_for(
    server: Server, settings: FetchSettings
) -> None:
    """Not merely as long as our own pauses are."""
    start = time.monotonic()
    _got(server, settings, status(429, Retry_After="1"), body(TARBALL))
    assert time.monotonic() - start >= 1


@pytest.mark.parametrize(
    "limited",
    [
        status(429, Retry_After="3600"),
        status(403, RateLimit='"default";r=0;t=3600'),
        status(503, Retry_After="Wed, 21 Oct 2099 07:28:00 GMT"),
    ],
)
def test_f3_a_long_wait_is_left_to_the_user(
    limited: Callable[[Handler], None], server: Server, settings: FetchSettings
) -> None:
    """Beyond the cap nobody waits: exit code 75 and the seconds asked for."""
    missed = _missed(server, settings, limited)
    assert missed.exit_code == TemporarilyUnavailable.exit_code
    assert "asks to wait" in missed.why
    assert len(server.asked) == 1


def test_f4_a_failing_server_is_retried(
    server: Server, settings: FetchSettings
) -> None:
    """5xx may pass; if it does not, it is named."""
    _got(server, settings, status(500), status(502), body(TARBALL))
    assert len(server.asked) == 3


def test_f4_a_server_that_goes_on_failing_is_given_up(
    server: Server, settings: FetchSettings
) -> None:
    """After the last attempt, with its status."""
    missed = _missed(server, settings, status(503))
    assert "503" in missed.why
    assert len(server.asked) == HASTY.attempts


def test_f4_no_tls_is_retried_then_named(
    server: Server, settings: FetchSettings
) -> None:
    """A server that does not speak TLS where it should."""
    secure = PublisherAddresses(github=server.base.replace("http:", "https:"))
    settings = replace(settings, publishers=secure)
    missed = _missed(server, settings, body(TARBALL))
    assert "no secure connection" in missed.why or "broke off" in missed.why


def test_f4_a_host_without_a_name_is_asked_once(settings: FetchSettings) -> None:
    """The next archive of that host is given up without a look."""
    asked = []

    def unknown(host: str, _port: int) -> list[str]:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    network = Network(limits=HASTY, resolve=unknown)
    nowhere = replace(settings, network=network, publishers=PublisherAddresses())
    for why in ("does not answer", "did not answer before"):
        got = acquire(PIN, nowhere)
        assert isinstance(got, UnavailableArchive)
        assert why in got.why
    assert asked == ["codeload.github.com"]


def test_f4_a_silent_host_is_given_up_within_seconds(settings: FetchSettings) -> None:
    """It accepts the connection and never says a word; asked once."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        base = f"http://127.0.0.1:{mute.getsockname()[1]}"
        settings = replace(settings, publishers=PublisherAddresses(github=base))
        start = time.monotonic()
        first, second = acquire(PIN, settings), acquire(PIN, settings)
        assert time.monotonic() - start < PATIENCE
    assert isinstance(first, UnavailableArchive)
    assert isinstance(second, UnavailableArchive)
    assert "does not answer" in first.why
    assert "did not answer before" in second.why


def test_f4_a_name_that_never_resolves_is_given_up(tmp_path: Path) -> None:
    """A resolver that hangs does not hang the command."""
    hung = threading.Event()

    def hangs(_host: str, _port: int) -> list[str]:
        hung.wait(PATIENCE)
        return []

    network = Network(limits=replace(HASTY, connect=0.1), resolve=hangs)
    policy = HostPolicy(hosts=frozenset({"things.example"}))
    with pytest.raises(Unavailable, match="does not answer"):
        network.download("https://things.example/x", tmp_path / "x", policy, print)
    hung.set()


def test_f5_a_head_that_drips_is_given_up(
    server: Server, settings: FetchSettings
) -> None:
    """Each byte arrives in time, the head never ends."""
    hasty = Network(limits=replace(HASTY, connect=0.3, silence=0.3))
    start = time.monotonic()
    missed = _missed(
        server, replace(settings, network=hasty), drip(b"x", 0.05, head=True)
    )
    assert "does not answer" in missed.why
    assert time.monotonic() - start < PATIENCE


def test_f5_a_body_that_falls_silent_is_a_broken_transfer(
    server: Server, settings: FetchSettings
) -> None:
    """No byte for as long as a server may be silent: tried again, then given up."""
    hasty = Network(limits=replace(HASTY, silence=0.2))
    missed = _missed(server, replace(settings, network=hasty), drip(b"x", 30.0))
    assert "broke off" in missed.why
    assert len(server.asked) == HASTY.attempts


def test_f5_a_body_that_drips_ends_at_the_deadline(
    server: Server, settings: FetchSettings
) -> None:
    """Each chunk arrives in time, the body is long in coming: exit code 75."""
    hasty = Network(limits=replace(HASTY, total=0.5))
    start = time.monotonic()
    slow = drip(b"x" * 4096, 0.05)  # 13 seconds to the cap
    missed = _missed(server, replace(settings, network=hasty), slow)
    assert time.monotonic() - start < PATIENCE
    assert missed.exit_code == TemporarilyUnavailable.exit_code
    assert "too slow" in missed.why


def test_f5_nothing_is_asked_again_past_the_deadline(
    server: Server, settings: FetchSettings
) -> None:
    """The pauses between tries count as well: exit code 75."""
    retry = replace(HASTY, total=0.05, first_pause=0.2, longest_pause=0.2)
    missed = _missed(
        server, replace(settings, network=Network(limits=retry)), status(503)
    )
    assert missed.exit_code == TemporarilyUnavailable.exit_code
    assert "not had within" in missed.why
    assert len(server.asked) == 1


def test_f5_an_endless_body_ends_at_the_cap(
    server: Server, settings: FetchSettings
) -> None:
    """Bytes are counted as they come; what there is, is thrown away."""
    server.on(PATH, drip(b"x" * 65536, 0.0))
    with pytest.raises(BadData, match="more than 1,048,576 bytes"):
        acquire(PIN, settings)
    assert _left(settings) == []


def test_f6_a_compressed_body_is_counted_unpacked(
    server: Server, settings: FetchSettings
) -> None:
    """A server that compresses unasked cannot smuggle a bomb past the cap."""
    bomb = gzip.compress(b"\0" * (8 << 20))
    server.on(PATH, body(bomb, Content_Encoding="gzip"))
    with pytest.raises(BadData, match="more than 1,048,576 bytes"):
        acquire(PIN, settings)
    assert server.headers[0]["Accept-Encoding"] == "identity"


def test_f9_a_redirect_on_the_same_host_is_followed(
    server: Server,
    settings: FetchSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no credentials travel, not even those of ~/.netrc."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.on("/elsewhere", body(TARBALL))
    _got(server, settings, redirect("/elsewhere"))
    assert not [each for each in server.headers if "Authorization" in each]


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("https://evil.example/x", "not one of the source's"),
        ("http://codeload.github.com/x", "http is not https"),
        ("http://127.0.0.1:1/x", "http is not https"),
        ("http://169.254.169.254/latest/meta-data/", "http is not https"),
        ("https://169.254.169.254/latest/meta-data/", "not one of the source's"),
        ("https://user:secret@github.com/x", "credentials"),
        ("https://github.com.evil.example/x", "not one of the source's"),
        ("https://github.com:8443/x", "not one of the source's"),
        ("ftp://github.com/x", "ftp is not https"),
        ("file:///etc/passwd", "file is not https"),
        ("https://[::1/x", "no address"),
    ],
)
def test_f9_a_redirect_elsewhere_is_refused(
    target: str, why: str, server: Server, settings: FetchSettings
) -> None:
    """Other hosts, plain HTTP, private machines: named, never asked."""
    missed = _missed(server, settings, redirect(target))
    assert why in missed.why
    assert "secret" not in missed.why
    assert len(server.asked) == 1


def test_f9_redirects_in_a_circle_end(server: Server, settings: FetchSettings) -> None:
    """After a few hops."""
    missed = _missed(server, settings, redirect(PATH))
    assert "redirects without end" in missed.why
    assert len(server.asked) == HASTY.redirects + 1


def test_f10_a_commit_that_is_gone_is_unavailable(
    server: Server, settings: FetchSettings
) -> None:
    """Rewritten history or a removed repository: named, exit code 69."""
    missed = _missed(server, settings, status(404))
    assert missed.exit_code == 69
    assert "no longer there" in missed.why
    assert PIN.commit in missed.why


def test_f10_a_file_removed_upstream_is_a_wrong_digest(
    server: Server, settings: FetchSettings
) -> None:
    """The commit in the address is no proof of the content."""
    fewer = {"schemas/a.json": FILES["schemas/a.json"]}
    server.on(PATH, body(github_tarball(fewer)))
    with pytest.raises(WrongDigest, match="1 selected file is"):
        acquire(PIN, settings)


def test_f36_a_cache_that_cannot_be_is_a_fault(
    server: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """A file where the cache should be: one line, exit code 73."""
    server.on(PATH, body(TARBALL))
    (tmp_path / "file").touch()
    with pytest.raises(CannotCreate, match="cannot be written") as caught:
        acquire(PIN, replace(settings, cache=tmp_path / "file" / "cache"))
    assert caught.value.exit_code == 73
