"""`dataset_info` is what `datasets` itself computes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from curation.core.benchmark import CONFIGS, SPLITS
from curation.dataset.parquet import COLUMNS, file_name
from curation.dataset.summary import ConfigSummary
from curation.packaging.hub_info import arrow_bytes, hub_configs
from curation.system.errors import BadData
from tests.builds import write_config
from tests.made import summary

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module")
def told(sample: Path) -> list[UntypedJson]:
    """Return the `dataset_info` of the sample's card."""
    info: list[UntypedJson] = DatasetCard.load(sample / "README.md").data[
        "dataset_info"
    ]
    return info


def test_datasets_computes_the_same(
    sample: Path,
    told: list[UntypedJson],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Features, bytes, rows and sizes of each config are those of a fresh load."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    assert [each["config_name"] for each in told][:2] == ["default", "Glaiveai2K"]
    for each in told:
        files = {
            split: sorted(str(path) for path in _files(sample, each, split))
            for split in SPLITS
        }
        files = {split: paths for split, paths in files.items() if paths}
        # The files alone: with the card `datasets` would repeat what it says.
        builder = datasets.load_dataset_builder(
            "parquet", data_files=files, cache_dir=str(tmp_path)
        )
        builder.download_and_prepare()
        computed = builder.info._to_yaml_dict()
        computed["config_name"] = each["config_name"]
        assert computed == each


def _files(sample: Path, info: UntypedJson, split: str) -> list[Path]:
    """Return the files with rows of a split; the card lists no others."""
    config = "*" if info["config_name"] == "default" else info["config_name"]
    return [
        path
        for path in sample.glob(f"{config}/{split}-*")
        if path.parent.name in (config, *CONFIGS) and pq.read_metadata(path).num_rows
    ]


def test_a_file_without_rows_takes_no_bytes(tmp_path: Path) -> None:
    """An empty split weighs nothing."""
    write_config(tmp_path, "Snowplow", {})
    assert arrow_bytes(tmp_path / file_name("Snowplow", "val")) == 0


def test_a_row_group_without_rows_takes_no_bytes(tmp_path: Path) -> None:
    """Other programs write one where a table is empty; a build never does."""
    path = tmp_path / "x.parquet"
    pq.write_table(COLUMNS.empty_table(), path)
    assert pq.read_metadata(path).num_row_groups == 1
    assert arrow_bytes(path) == 0


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
