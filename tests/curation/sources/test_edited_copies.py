"""The sources that have an edited copy, and a true upstream with a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.sources import corpus, github, kubernetes, snowplow, washingtonpost
from tests.curation.sources.given import EDITED, held, reading

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

IGLU = "schemas/com.acme/click/jsonschema/1-0-0"
ANS = "src/main/resources/schema/ans/0.10.9/story.json"
ANS_URI = f"https://raw.githubusercontent.com/washingtonpost/ans-schema/master/{ANS}"


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
    found = github.read(reading("witness-generation", files))
    assert [each.unique_id for each in found] == ["o1"]


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
    given = reading("kubernetes-validate", files)
    found = [each.unique_id for each in kubernetes.read(given)]
    assert found == ["allocation-v1", "pod-v1"]
    assert list(kubernetes.read(reading("kubernetes-validate", strict))) == []
    uris = kubernetes.uris(given)
    definitions = "https://kubernetes.io/api/_definitions.json"
    assert uris[definitions] == f"{folder}/_definitions.json"
