"""`csbdata sources --update`: publishers are asked, and what they say is told."""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.download.http import Network
from curation.download.pin_updates import PinUpdate, find_updates, write_new_pins
from curation.download.pins import load_pins
from curation.download.publishers import PublisherAddresses
from curation.system.errors import BadData, TemporarilyUnavailable, Unavailable
from tests.archives_made import FILES, github_pin, github_tarball, hub_pin
from tests.archives_made import digest as digest_over
from tests.loopback import HASTY, Server, body, reset, serving, status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.download.pins import ArchivePin

PIN = github_pin()
NEW = "d" * 40
TEXT = b"MIT License"
SUM = hashlib.sha256(TEXT).hexdigest()
HEAD = f"/repos/{PIN.repository}/commits/HEAD"
LICENCE = f"/repos/{PIN.repository}/license"
TARBALL = f"/{PIN.repository}/tar.gz/{NEW}"


@pytest.fixture
def server() -> Iterator[Server]:
    """Stand for GitHub and the Hub."""
    with serving() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, server: Server) -> FetchSettings:
    """Ask the server, and keep things in a folder of the test."""
    return FetchSettings(
        cache=tmp_path / "cache",
        publishers=PublisherAddresses(github=server.base, hub=server.base),
        network=Network(limits=HASTY),
    )


def _json(value: UntypedJson) -> bytes:
    return json.dumps(value).encode()


def _answers(server: Server, commit: str = NEW, text: bytes = TEXT) -> None:
    """Let the server have a repository with this head and this licence."""
    head = {"sha": commit, "commit": {"committer": {"date": "2026-11-01T10:00:00Z"}}}
    server.on(HEAD, body(_json(head)))
    content = base64.encodebytes(text).decode()
    licence = {"content": content, "license": {"spdx_id": "MIT"}}
    server.on(LICENCE, body(_json(licence)))


def _one(settings: FetchSettings, pin: ArchivePin = PIN) -> PinUpdate:
    (found,) = find_updates([pin], settings)
    return found


def _pins_file(folder: Path, pin: ArchivePin) -> Path:
    """Write a file like `raw/sources.toml`, with a table before and one after."""
    table = "\n".join(
        [
            'kind = "github"',
            f'repository = "{pin.repository}"',
            f'commit = "{pin.commit}"',
            "# What is read.",
            f'paths = ["{pin.paths.patterns[0]}"]',
            f'digest = "{pin.digest}"',
            *(f'{key} = "x"' for key in ("licence", "file_licence", "attribution")),
            *(f'{key} = "x"' for key in ("citation", "homepage")),
        ]
    )
    text = "".join(f"[archive.{name}]\n{table}\n\n" for name in ("a", pin.name, "z"))
    file = folder / "sources.toml"
    file.write_text("# Pins.\n" + text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("recorded", "licence"),
    [(SUM, "as recorded"), ("0" * 64, "CHANGED: MIT"), ("", "MIT, none recorded")],
)
def test_a_newer_commit_and_another_licence_are_told(
    server: Server, settings: FetchSettings, recorded: str, licence: str
) -> None:
    """The text of the licence counts, not its name."""
    _answers(server)
    found = _one(settings, replace(PIN, licence_sha256=recorded))
    assert (found.is_newer, found.licence) == (True, licence)
    assert found.licence_changed is licence.startswith("CHANGED")
    assert found.upstream
    assert found.upstream.day == "2026-11-01"


def test_the_pinned_commit_is_nothing_new(
    server: Server, settings: FetchSettings
) -> None:
    """Where upstream stands still, nothing is to do."""
    _answers(server, PIN.commit)
    assert not _one(settings).is_newer


def test_a_repository_without_a_licence_says_so(
    server: Server, settings: FetchSettings
) -> None:
    """And a licence that was recorded and is gone has changed."""
    _answers(server)
    server.on(LICENCE, status(404))
    found = _one(settings, replace(PIN, licence_sha256=SUM))
    assert (found.licence, found.licence_changed) == ("CHANGED: none stated", True)


def test_a_licence_that_cannot_be_asked_for_is_no_licence_that_went(
    server: Server, settings: FetchSettings
) -> None:
    """A failing server says nothing of licences."""
    _answers(server)
    server.on(LICENCE, status(500))
    assert isinstance(
        _one(settings, replace(PIN, licence_sha256=SUM)).fault, Unavailable
    )


def test_the_hub_is_asked_for_revision_and_card(
    server: Server, settings: FetchSettings
) -> None:
    """Its words for the licence stand for the text."""
    pin = hub_pin(b"[]")
    answer = {"sha": NEW, "lastModified": "2026-01-02T", "cardData": {"license": "mit"}}
    server.on(f"/api/datasets/{pin.repository}", body(_json(answer)))
    found = _one(settings, pin)
    assert (found.is_newer, found.licence) == (True, "mit, none recorded")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (reset(), Unavailable),
        (status(500), Unavailable),
        (status(404), Unavailable),
        (status(429, Retry_After="3600"), TemporarilyUnavailable),
        (
            status(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="99999999999"),
            TemporarilyUnavailable,
        ),
        (body(b"<html>"), BadData),
        (body(b'{"sha": 1}'), BadData),
        (body(b'{"sha": "\xff"}'), BadData),
        (body(_json({"sha": "x", "commit": []})), BadData),
    ],
)
def test_a_publisher_in_trouble_stops_no_other(
    server: Server, settings: FetchSettings, answer: UntypedJson, fault: type[Exception]
) -> None:
    """What is wrong stands in its place, in one line; the next one is asked."""
    _answers(server)
    server.on(HEAD, answer)
    pin = hub_pin(b"[]")
    server.on(f"/api/datasets/{pin.repository}", body(_json({"sha": NEW})))
    first, second = find_updates([PIN, pin], settings)
    assert isinstance(first.fault, fault)
    assert "\n" not in str(first.fault)
    assert second.is_newer


def test_no_publisher_is_asked_offline(server: Server, settings: FetchSettings) -> None:
    """And that is what is told."""
    found = _one(replace(settings, offline=True))
    assert isinstance(found.fault, Unavailable)
    assert server.asked == []


def test_new_pins_are_those_that_a_build_would_accept(
    server: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """Commit, digest and licence change in one table; all else stays, byte for byte."""
    files = {**FILES, "schemas/new.json": b"{}"}
    _answers(server)
    server.on(TARBALL, body(github_tarball(files)))
    file = _pins_file(tmp_path, PIN)
    before = file.read_text(encoding="utf-8")
    assert write_new_pins(find_updates([PIN], settings), file, settings) == {}
    after = file.read_text(encoding="utf-8")
    pins = load_pins(file)
    written = pins[PIN.name]
    assert (written.commit, written.digest) == (NEW, digest_over(files))
    assert written.licence_sha256 == SUM
    assert pins["a"].commit == pins["z"].commit == PIN.commit
    assert len(after.splitlines()) == len(before.splitlines()) + 1
    assert set(before.splitlines()) - set(after.splitlines()) == set()


@pytest.mark.parametrize(
    "answer",
    [
        status(404),
        reset(b"half", 1000),
        body(b"no archive"),
        body(github_tarball({"elsewhere.json": b"{}"})),
    ],
)
def test_an_archive_that_cannot_be_pinned_keeps_its_pin(
    server: Server, settings: FetchSettings, tmp_path: Path, answer: UntypedJson
) -> None:
    """Nothing of it is written, and why is returned."""
    _answers(server)
    server.on(TARBALL, answer)
    file = _pins_file(tmp_path, PIN)
    before = file.read_bytes()
    kept = write_new_pins(find_updates([PIN], settings), file, settings)
    assert list(kept) == [PIN.name]
    assert file.read_bytes() == before


def test_a_run_that_ends_between_leaves_the_pins_as_they_were(
    server: Server, settings: FetchSettings, tmp_path: Path
) -> None:
    """The file is written once, when every new archive is there; later it is whole."""
    _answers(server)
    server.on(TARBALL, body(github_tarball()))
    file = _pins_file(tmp_path, PIN)
    before = file.read_bytes()
    updates = find_updates([PIN], settings)

    def killed(message: str) -> None:
        if "fetching" in message:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_new_pins(updates, file, settings, killed)
    assert file.read_bytes() == before
    assert write_new_pins(updates, file, settings) == {}
    assert tomllib.loads(file.read_text())["archive"][PIN.name]["commit"] == NEW
