"""A file of the GitHub corpus keeps the repository that it was collected from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.download.pins import load_pins
from curation.packaging.licences import shipped_text
from curation.sources import github
from curation.sources.claims import (
    ADDRESSES,
    LICENCES,
    claimed_repository,
    repository_addresses,
    repository_at,
    repository_licences,
)
from curation.system.package_data import raw_folder
from tests.curation.sources.given import held, reading

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import Provenance
    from curation.sources.base import Reading

HOME = "https://github.com/Owner/some.name"


@pytest.mark.parametrize(
    "address",
    [
        "https://raw.githubusercontent.com/Owner/some.name/main/a/b.json",
        "https://github.com/Owner/some.name/blob/0123abc/b.json",
        "http://www.github.com/Owner/some.name.git",
        "https://raw.github.com/Owner/some.name/main/b.json",
        "https://cdn.rawgit.com/Owner/some.name/main/b.json",
        "https://cdn.jsdelivr.net/gh/Owner/some.name@1.0/b.json",
        "HTTPS://GITHUB.COM/Owner/some.name?raw=1",
    ],
)
def test_an_address_at_github_gives_its_repository(address: str) -> None:
    """Raw files, pages, clones and what others passed on lead to one home."""
    assert repository_at(address) == HOME


@pytest.mark.parametrize(
    "address",
    [
        "https://gitlab.com/Owner/name/b.json",
        "https://github.com/Owner",
        "https://github.com/Owner/..",
        "https://github.com/-/name",
        "https://github.com/Owner/a|b](x)/c",
        "https://github.com.example.org/Owner/name",
        "https://example.org/https://github.com/Owner/name",
        "https://raw.githubusercontent.com/Öwner/name/b.json",
        "",
        "deleted",
    ],
)
def test_no_other_address_gives_one(address: str) -> None:
    """What is not at GitHub, or could not be a name there, is not known."""
    assert repository_at(address) is None


def _corpus(tmp_path: Path) -> Reading:
    """Return a corpus of three files, of which the second claims a home."""
    (tmp_path / "github.txt").write_text("1\n2\n3\n")
    known = f"# how\n{HOME}\tMIT\tseen\nhttps://github.com/a/b\tApache-2.0\tseen\n"
    (tmp_path / LICENCES).write_text(known)
    (tmp_path / ADDRESSES).write_text("")
    claim = "https://raw.githubusercontent.com/Owner/some.name/main/s.json#"
    files = {
        "json_schema_corpus/pp_1.json": {"type": "object"},
        "json_schema_corpus/pp_2.json": {"id": claim},
        "json_schema_corpus/pp_3.json": {"$id": "https://github.com/c/d"},
    }
    made = reading("json-schema-corpus", held(**files), lists=tmp_path)
    return replace(made, licence="NOASSERTION")


def _told(given: Reading) -> list[tuple[str | None, str]]:
    def pair(one: Provenance) -> tuple[str | None, str]:
        return one.original_repository, one.licence

    return [pair(document.provenance) for document in github.SOURCE.read(given)]


def test_a_file_names_its_repository(tmp_path: Path) -> None:
    """Its licence is that of a repository that we know, else nobody's."""
    assert _told(_corpus(tmp_path)) == [
        (None, "NOASSERTION"),
        (HOME, "MIT"),
        ("https://github.com/c/d", "NOASSERTION"),
    ]


def test_the_sample_and_edited_copies_keep_their_own_licence(tmp_path: Path) -> None:
    """The sample comes from nowhere else; an archive's licence for files stands."""
    given = _corpus(tmp_path)
    sample = replace(given, origin=Origin.SAMPLE, licence="Apache-2.0")
    assert set(_told(sample)) == {(None, "Apache-2.0")}
    assert {
        licence for _, licence in _told(replace(given, licence="GPL-3.0-only"))
    } == {"GPL-3.0-only"}


def test_known_licences_are_those_of_the_pins_and_ask_nothing_unkept() -> None:
    """A notice under MIT must be there, and nothing under the GPL is among them."""
    pins = {pin.homepage.casefold(): pin for pin in load_pins().values()}
    for repository, licence in repository_licences(raw_folder() / "lists").items():
        assert repository_at(repository) == repository
        assert not licence.startswith(("GPL-", "AGPL-"))
        assert shipped_text(licence) is not None
        if repository in pins:
            assert licence == pins[repository].file_licence
        else:
            assert licence == "Apache-2.0"


def test_a_broken_schema_claims_nothing() -> None:
    """Neither bytes that are no JSON nor an id that is no text."""
    assert claimed_repository(b'{"id": "https://github.com/a/b", git', {}) is None
    assert claimed_repository(b'{"id": ["https://github.com/a/b"]}', {}) is None


def test_an_address_that_a_repository_publishes_below_leads_to_it() -> None:
    """By http and https; another path of the host leads nowhere."""
    addresses = {"schemas.example.org/a/": HOME}
    for scheme in ("http", "https"):
        text = f'{{"id": "{scheme}://schemas.example.org/a/b.json#"}}'
        assert claimed_repository(text.encode(), addresses) == HOME
    other = b'{"id": "http://schemas.example.org/b/a/c.json"}'
    assert claimed_repository(other, addresses) is None


def test_listed_addresses_are_folders_of_one_host_with_a_repository() -> None:
    """A prefix ends in a slash, so that it never reaches into another name."""
    for address, repository in repository_addresses(raw_folder() / "lists").items():
        assert address.endswith("/")
        assert address.count("/") > 1
        assert repository_at(repository) == repository
