"""The manifest, and a folder that opens with `datasets` without a network."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from curation.core.benchmark import CANARY, CONFIGS, SPLITS, natural_key
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import COLUMNS
from curation.dataset.summary import ConfigFigures, ConfigSummary
from curation.packaging.derived_files import rebuild
from curation.packaging.hub_info import hub_configs
from curation.packaging.manifest import (
    FILE,
    facts_of,
    origins_of,
    read_facts,
    read_manifest,
    read_origins,
    write_facts,
    write_manifest,
)
from curation.packaging.recount import recount
from curation.system.checksums import Sum
from curation.system.errors import BadData, NoInput
from tests.builds import write_build, write_config
from tests.made import entry, in_split, record, summary

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.records import BenchmarkRecord
    from curation.packaging.manifest import Manifest


SUMMARY = summary([entry(record("o1"), "Snowplow")], partial=("Half is missing.",))
SUMS = {
    name: Sum(bytes=4, sha256="0" * 64)
    for name in ("b/x.parquet", "README.md", "SHA256SUMS", FILE)
}


def test_every_file_has_its_digest(tmp_path: Path) -> None:
    """All files but the manifest and the list of digests are listed, sorted."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    files = json.loads((tmp_path / FILE).read_text())["files"]
    assert list(files) == ["README.md", "b/x.parquet"]
    assert files["b/x.parquet"] == {"bytes": 4, "sha256": "0" * 64}


def test_written_from_itself_it_is_the_same(tmp_path: Path) -> None:
    """A manifest read back serves as the facts: the same bytes come out."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    first = (tmp_path / FILE).read_bytes()
    write_manifest(read_facts(tmp_path), SUMMARY.configs, SUMS, tmp_path)
    assert (tmp_path / FILE).read_bytes() == first


def test_the_facts_and_the_files_give_the_summary_back(tmp_path: Path) -> None:
    """What a build knew of itself is known again from its folder alone."""
    folder = write_build(tmp_path)
    known = recount(read_facts(folder), folder)
    write_facts(known, folder)
    assert recount(read_facts(folder), folder) == known
    assert known.of("Github_easy").kept == 2
    assert known.pins == SUMMARY.pins
    assert known.rule_notes == SUMMARY.rule_notes


def test_it_names_versions_pins_rules_and_counts(tmp_path: Path) -> None:
    """What decided the content of the build is all there."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    found = read_manifest(tmp_path)
    assert {"python", "csbdata", "jsonschema", "jsonschema-rs", "regress"} <= set(
        found.versions
    )
    assert found.rules == "clean"
    assert found.pins[0].archive == "corpus"
    assert found.configs["Snowplow"].kept == 1
    assert found.canary == CANARY
    assert found.partial == ["Half is missing."]


def test_it_holds_no_date_and_no_place(tmp_path: Path) -> None:
    """No date, path of this machine or host stands in the manifest."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    text = (tmp_path / FILE).read_text()
    assert str(tmp_path) not in text
    assert not re.search(r"20\d\d-\d\d-\d\d", text)


def test_without_a_manifest_there_is_no_build(tmp_path: Path) -> None:
    """A folder without it is named: exit 66."""
    with pytest.raises(NoInput, match=re.escape(str(tmp_path))):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"rules": "clean"}', '{"x":' + "[" * 100_000],
    ids=["cut", "list", "empty", "half", "deep"],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str) -> None:
    """Broken JSON, and JSON of another kind, is bad data: exit 65."""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(BadData, match=FILE):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "damage", [{"pins": [{"source": 1}]}, {"rule_list": [{}]}, {"partial": None}]
)
def test_facts_that_are_not_those_of_a_build_are_refused(
    tmp_path: Path, damage: dict[str, object]
) -> None:
    """A manifest with the right names and the wrong values is bad data: exit 65."""
    path = write_build(tmp_path) / FILE
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **damage}))
    with pytest.raises(BadData, match=FILE):
        read_facts(tmp_path)


def test_facts_alone_are_no_whole_manifest(tmp_path: Path) -> None:
    """They are read as facts; asked for figures and digests, it is bad data."""
    write_facts(SUMMARY, tmp_path)
    assert read_facts(tmp_path) == facts_of(SUMMARY)
    with pytest.raises(BadData, match="configs"):
        read_manifest(tmp_path)


def manifest_with(folder: Path, origins: dict[str, str]) -> Manifest:
    """Return a manifest whose configs come from these places."""
    made = read_manifest(write_build(folder))
    figures = {
        config: ConfigFigures(
            raw=3, kept=2, rejected={"empty": 1}, changed={}, splits={}, origin=origin
        )
        for config, origin in origins.items()
    }
    return msgspec.structs.replace(made, configs=figures, partial=["X: why."])


def test_real_sample_and_absent_configs_are_told_apart(tmp_path: Path) -> None:
    """A config of the index is real, the sample's is not, and extras do not count."""
    given = {"Kubernetes": "index", "Snowplow": "sample", "Acme": "local"}
    found = origins_of(manifest_with(tmp_path, given))
    assert found.real == {"Kubernetes": "index"}
    assert found.sample == ("Snowplow",)
    assert set(found.absent) == set(CONFIGS) - {"Kubernetes", "Snowplow"}
    assert found.reasons == ("X: why.",)
    assert found.sentence.startswith(
        "1 of the ten configs is real; the embedded sample stands for Snowplow; without"
    )


def test_a_whole_build_is_not_partial(tmp_path: Path) -> None:
    """Ten real configs and no reason, none of which had no document at all."""
    made = manifest_with(tmp_path, dict.fromkeys(CONFIGS, "upstream"))
    whole = msgspec.structs.replace(made, partial=[])
    found = origins_of(whole)
    assert not found.reasons
    assert found.sentence == "10 of the ten configs are real"
    empty = msgspec.structs.replace(whole.configs["Kubernetes"], raw=0)
    less = msgspec.structs.replace(
        whole, configs={**whole.configs, "Kubernetes": empty}
    )
    assert origins_of(less).absent == ("Kubernetes",)


def test_the_sample_alone_says_that_nothing_is_real(sample_build: Path) -> None:
    """Of a build of the sample no config is real."""
    found = read_origins(sample_build)
    assert found is not None
    assert found.sample == CONFIGS
    assert found.sentence == (
        "none of the ten configs is real; the embedded sample stands for all ten"
    )


def test_a_folder_that_is_no_build_has_no_origins(tmp_path: Path) -> None:
    """Without a manifest nothing is claimed; a damaged one is an error."""
    assert read_origins(tmp_path) is None
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(BadData):
        read_origins(tmp_path)


def test_other_alphabets_stand_there_as_they_are(tmp_path: Path) -> None:
    """A person reads it: no escapes."""
    told = summary([entry(record("o1"), "Snowplow")], partial=("Ganz äöü.",))
    write_facts(told, tmp_path)
    assert "Ganz äöü." in (tmp_path / FILE).read_text("utf-8")


datasets = pytest.importorskip("datasets")
BUILD: dict[str, dict[str, list[BenchmarkRecord]]] = {
    "Github_easy": {split: [in_split(split)] for split in SPLITS},
    "Kubernetes": {"test": [in_split("test", "k"), record("huge", depth=2**40)]},
    "mine": {"train": [in_split("train", "m")]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a small build: two configs, an extra, an empty split."""
    made = tmp_path_factory.mktemp("build")
    entries = []
    for config, splits in BUILD.items():
        write_config(made, config, splits)
        entries += [
            entry(each, config, split=split)
            for split, records in splits.items()
            for each in records
        ]
    write_ledger(entries, made)
    write_facts(summary(entries, extras=frozenset({"mine"})), made)
    rebuild(made)
    return made


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep `datasets` offline and inside a folder of the test."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    return str(tmp_path / "cache")


@pytest.mark.parametrize("config", BUILD)
def test_every_config_and_split_loads(folder: Path, cache: str, config: str) -> None:
    """Each config has its rows, and the columns in their order."""
    for split, records in BUILD[config].items():
        loaded = datasets.load_dataset(
            str(folder), config, split=split, cache_dir=cache
        )
        assert loaded.column_names == COLUMNS.names
        assert sorted(loaded["unique_id"]) == sorted(each.unique_id for each in records)


@pytest.mark.slow
def test_every_config_streams(folder: Path, cache: str) -> None:
    """With `streaming=True` rows come one by one, in the order of the file."""
    for config, splits in BUILD.items():
        for split, records in splits.items():
            streamed = datasets.load_dataset(
                str(folder), config, split=split, cache_dir=cache, streaming=True
            )
            ids = sorted((record.unique_id for record in records), key=natural_key)
            assert [row["unique_id"] for row in streamed] == ids


def test_the_default_config_holds_all_rows(folder: Path, cache: str) -> None:
    """Without a config's name all rows come, the extras' excepted."""
    loaded = datasets.load_dataset(str(folder), cache_dir=cache)
    assert {split: loaded[split].num_rows for split in loaded} == {
        "train": 1,
        "val": 1,
        "test": 3,
    }


def test_a_config_with_an_empty_split_loads_whole(folder: Path, cache: str) -> None:
    """An empty split does not spoil the others of its config."""
    loaded = datasets.load_dataset(str(folder), "Kubernetes", cache_dir=cache)
    assert list(loaded) == ["test"]


def test_the_head_is_short_and_datasets_loads_what_it_names(
    sample_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most 200 lines; every config has its rows and columns, `default` all rows."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    head = (sample_build / "README.md").read_text(encoding="utf-8").split("\n---\n")[0]
    assert head.count("\n") < 200
    data = DatasetCard.load(sample_build / "README.md").data
    names = [config["config_name"] for config in data["configs"]]
    assert names[:2] == ["default", "Glaiveai2K"]
    rows = {}
    for name in names:
        loaded = datasets.load_dataset(str(sample_build), name, cache_dir=str(tmp_path))
        rows[name] = sum(loaded[split].num_rows for split in loaded)
        assert {tuple(loaded[split].features) for split in loaded} == {
            tuple(COLUMNS.names)
        }
    tables = [sample_build / name for name in names if name != "default"]
    files = {path.name: list(path.glob("*.parquet")) for path in tables}
    assert {name: rows[name] for name in files} == {
        name: sum(pq.read_metadata(path).num_rows for path in paths)
        for name, paths in files.items()
    }
    assert rows["default"] == sum(rows[name] for name in files)


def test_records_without_a_split_are_said(tmp_path: Path) -> None:
    """A ledger of others: its config is named, and no index is out of range."""
    odd = ConfigSummary(
        config="Snowplow",
        origin="upstream",
        raw=1,
        kept=1,
        rejected={},
        changed={},
        splits={"else": 1},
    )
    with pytest.raises(BadData, match="no split"):
        hub_configs(replace(summary([]), configs=(odd,)), tmp_path)
