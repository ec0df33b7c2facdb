"""The configs that the card announces are what `datasets` loads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from curation.dataset.parquet import COLUMNS
from curation.dataset.summary import ConfigSummary
from curation.packaging.hub_info import hub_configs
from curation.system.errors import BadData
from tests.made import summary

if TYPE_CHECKING:
    from pathlib import Path


datasets = pytest.importorskip("datasets")


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
