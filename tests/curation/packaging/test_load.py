"""A written folder, and the configs that its card announces, open with `datasets`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from curation.core.benchmark import SPLITS, natural_key
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import COLUMNS
from curation.dataset.summary import ConfigSummary
from curation.packaging.derived_files import rebuild
from curation.packaging.hub_info import hub_configs
from curation.packaging.manifest import write_facts
from curation.system.errors import BadData
from tests.builds import write_config
from tests.made import entry, in_split, record, summary

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.records import BenchmarkRecord


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
