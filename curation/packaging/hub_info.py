"""Compute `configs` and `dataset_info` of the Hub's metadata, as `datasets` does.

`datasets` counts the bytes of its Arrow tables, one table for as many rows as the first
row group of a file has. A test compares with `datasets` itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import DEFAULT, SPLITS, instances_folder
from curation.dataset.parquet import file_name, split_files
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.dataset.summary import Summary

#: What the metadata calls the types that our columns have.
_DTYPES = {
    pa.string(): "string",
    pa.int64(): "int64",
    pa.float64(): "float64",
    pa.bool_(): "bool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HubConfig:
    """One config as the card announces it to the Hub."""

    name: str
    #: Split to the paths of its files; splits without rows are left out, because
    #: `datasets` cannot open them.
    files: Mapping[str, Sequence[str]]
    #: Whether it is opened where no config is named.
    default: bool = False

    @property
    def paths(self) -> list[str]:
        """All its files, split by split."""
        return [path for paths in self.files.values() for path in paths]


def hub_configs(summary: Summary, folder: Path) -> list[HubConfig]:
    """Return the configs of schemas that have rows, `default` first.

    Args:
        summary: The figures of the build.
        folder: The dataset folder, with the tables.

    Raises:
        BadData: the ledger keeps records without a split.
    """
    names = [config.config for config in summary.configs if config.kept]
    schemas = {name: summary.of(name).splits for name in names}
    ten = {name: schemas[name] for name in names if name not in summary.extras}
    configs = []
    if ten:
        files = _files(ten, folder)
        configs.append(HubConfig(name=DEFAULT, files=files, default=True))
    configs += [_config(name, splits, folder) for name, splits in schemas.items()]
    for config in configs:
        if not config.paths:
            what = "the ledger keeps records of it, and says no split that there is"
            raise BadData(what, config.name, "build again")
    return configs


def instance_configs(summary: Summary, folder: Path) -> list[HubConfig]:
    """Return the folders of instances that have rows, by their paths.

    Only `croissant.json` describes them; the Hub's configs hold schemas.
    """
    return [
        _config(instances_folder(config), splits, folder)
        for config, splits in summary.instances.items()
        if any(splits.values())
    ]


def _config(name: str, splits: Mapping[str, int], folder: Path) -> HubConfig:
    return HubConfig(name=name, files=_files({name: splits}, folder))


def _files(
    configs: Mapping[str, Mapping[str, int]], folder: Path
) -> dict[str, list[str]]:
    files = {
        split: [
            path
            for name in configs
            if configs[name].get(split)
            # One that is not there is named, so that it is missed.
            for path in split_files(folder, name, split) or [file_name(name, split)]
        ]
        for split in SPLITS
    }
    return {split: paths for split, paths in files.items() if paths}


def configs_metadata(configs: Iterable[HubConfig]) -> list[Json]:
    """Return the metadata's `configs`."""
    return [
        {
            "config_name": config.name,
            "data_files": [
                {"split": split, "path": list(paths)}
                for split, paths in config.files.items()
            ],
            **({"default": True} if config.default else {}),
        }
        for config in configs
    ]


def dataset_info(configs: Sequence[HubConfig], folder: Path) -> list[Json]:
    """Return the metadata's `dataset_info`.

    Raises:
        NoInput: a file with records is not there (exit 66).
        OSError: a file cannot be read.
    """
    weights: dict[str, int] = {}
    for path in sorted({path for config in configs for path in config.paths}):
        if not (folder / path).is_file():
            what = "not there, and the ledger has records in it"
            raise NoInput(what, str(folder / path), "csbdata build writes it")
        weights[path] = arrow_bytes(folder / path)
    return [_info(config, folder, weights) for config in configs]


def _info(
    config: HubConfig, folder: Path, weights: Mapping[str, int]
) -> dict[str, Json]:
    first = folder / config.paths[0]
    sizes = {
        split: sum(weights[path] for path in paths)
        for split, paths in config.files.items()
    }
    splits: list[Json] = [
        {
            "name": split,
            "num_bytes": sizes[split],
            "num_examples": sum(_rows(folder / path) for path in paths),
        }
        for split, paths in config.files.items()
    ]
    return {
        "config_name": config.name,
        "features": list(hub_features(pq.read_schema(first))),
        "splits": splits,
        "download_size": sum((folder / path).stat().st_size for path in config.paths),
        "dataset_size": sum(sizes.values()),
    }


def _rows(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def arrow_bytes(path: Path) -> int:
    """Return the bytes of a parquet file's rows as Arrow tables.

    Raises:
        OSError: the file cannot be read.
    """
    with pq.ParquetFile(path) as file:
        groups = range(file.num_row_groups)
        if not groups:
            return 0
        # `datasets` reads batches of the first group's length. A group of no rows is
        # none that a build writes, but one that others do.
        rows = max(1, file.metadata.row_group(0).num_rows)
        batches = (file.read_row_group(group).to_batches(rows) for group in groups)
        return sum(batch.nbytes for group in batches for batch in group)


def hub_features(columns: pa.Schema) -> Iterator[Json]:
    """Yield each column as the metadata's `features` name it.

    Raises:
        TypeError: a column has a type that no file of ours has.
    """
    for column in columns:
        if pa.types.is_list(column.type):
            yield {"name": column.name, "list": _dtype(column.type.value_type)}
        else:
            yield {"name": column.name, "dtype": _dtype(column.type)}


def is_known_type(arrow: pa.DataType) -> bool:
    """Return whether the metadata has a name for a column's type."""
    inner = arrow.value_type if pa.types.is_list(arrow) else arrow
    return inner in _DTYPES


def _dtype(arrow: pa.DataType) -> str:
    if arrow not in _DTYPES:
        raise TypeError(arrow)
    return _DTYPES[arrow]
