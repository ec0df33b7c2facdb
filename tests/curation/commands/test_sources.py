"""`csbdata sources`: listing and fetching."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

import curation.download.acquire
import curation.pipeline.inputs
from curation.commands.sources import sources
from curation.core.documents import Origin
from curation.download.cache import FetchSettings
from curation.download.pins import ArchivePin
from curation.pipeline.inputs import acquire_all
from curation.sources.registry import sources as registered
from curation.system.errors import BadConfiguration
from tests.curation.archives_made import FILES, github_pin, github_tarball, save

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.core.json_types import UntypedJson

    Fetch = Callable[..., tuple[int, str, str]]

APP = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
APP.command("sources")(sources)
APP.command("other")(lambda: None)
PIN = github_pin()
FETCH = ("sources", "--fetch", PIN.name)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CSBDATA_MIRROR", raising=False)


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pin one made-up archive beside the real ones, which are not asked for."""
    monkeypatch.setattr(curation.pipeline.inputs, "load_pins", lambda: {PIN.name: PIN})


def _run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(APP, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def fetch(pinned: None, tmp_path: Path) -> Fetch:
    """Give what fetches the archive from a mirror, which has it."""
    assert pinned is None
    mirror = tmp_path / "mirror"
    save(mirror, PIN.file_names[0], github_tarball())
    return partial(_run, *FETCH, "--mirror", str(mirror))


def test_fetch_tells_what_came_from_where(fetch: Fetch) -> None:
    """Data on stdout, progress on stderr."""
    code, out, err = fetch()
    assert code == 0
    assert "mirror" in out
    assert "reading" in err
    assert "reading" not in out


def test_fetch_as_json_is_one_object(fetch: Fetch) -> None:
    """With the digest and the path of the pack; nothing else is said."""
    code, out, err = fetch("--format", "json")
    (row,) = json.loads(out)["archives"]
    assert (code, err) == (0, "")
    found = row["digest"], row["files"], row["route"]
    assert found == (PIN.digest, len(FILES), "mirror")


def test_fetch_offline_names_what_is_missing() -> None:
    """Every source of a build, exit code 69, and what can be done."""
    code, out, err = _run("sources", "--fetch", "--offline")
    ten = [each.name for each in registered().values() if not each.extra]
    ten.append("tool-schemas")
    assert code == 69
    assert out == ""
    assert f"Missing: {', '.join(ten)}" in err
    assert "--mirror DIR" in err
    code, out, _ = _run("sources", "--fetch", "--offline", "--format", "json")
    assert (code, json.loads(out)["missing"]) == (69, ten)


def test_a_source_is_missing_only_if_clean_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes from the index is enough; the paper's archive is only listed."""
    known = acquired_only("kubernetes-validate")
    monkeypatch.setattr(curation.pipeline.inputs, "acquire", known)
    settings = FetchSettings(mirror=None, cache=tmp_path, offline=True)
    got = acquire_all(["kubernetes"], settings, print)
    assert list(got.archives) == ["witness-generation", "kubernetes-validate"]
    assert got.missing == {}
    got = acquire_all(["kubernetes", "snowplow"], settings, print)
    assert got.missing == {"snowplow": 75}


def acquired_only(name: str) -> Callable[..., UntypedJson]:
    """Return an `acquire` that has one archive, and promises the others."""

    def acquire(pin: ArchivePin, *_: object) -> UntypedJson:
        if pin.name != name:
            return curation.download.acquire.UnavailableArchive(
                archive=pin.name, reason="later", exit_code=75
            )
        return curation.download.acquire.Acquired(
            archive=name,
            pack=Path("x"),
            origin=Origin.INDEX,
            route="index",
            commit=pin.commit,
            digest=pin.digest,
            licence=pin.file_licence,
        )

    return acquire


def test_an_unknown_source_is_answered_with_the_nearest() -> None:
    """Exit code 78."""
    with pytest.raises(BadConfiguration, match="did you mean kubernetes"):
        _run("sources", "--fetch", "kubernets", "--offline")


def test_sources_are_listed_with_pins_and_licences() -> None:
    """As a table and as JSON."""
    code, out, _ = _run("sources")
    assert code == 0
    assert "79f808b10c9e" in out
    assert "GPL-3.0-only" in out
    code, out, _ = _run("sources", "--format", "json")
    listed = {each["source"]: each for each in json.loads(out)}
    assert list(listed) == list(registered())
    github = listed["github"]["archives"]
    assert [each["rules"] for each in github] == [["paper"], ["clean"]]
    assert all(each["at_hand"] is None for each in github)


def test_help_shows_examples() -> None:
    """Each on a line of its own."""
    code, out, _ = _run("sources", "--help")
    assert code == 0
    assert "\n    csbdata sources\n" in out


def test_the_sources_that_are_named_are_listed() -> None:
    """By their own name, or that of an archive."""
    code, out, _ = _run("sources", "snowplow", "--format", "json")
    (listing,) = json.loads(out)
    assert (code, listing["source"]) == (0, "snowplow")
