"""Compute `configs` of the Hub's metadata: the files of each config and split.

`dataset_info` is left to the Hub's viewer, which computes it from the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import DEFAULT, SPLITS
from curation.dataset.parquet import file_name, split_files
from curation.system.errors import BadData

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.dataset.summary import Summary


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
    configs += [
        HubConfig(name=name, files=_files({name: splits}, folder))
        for name, splits in schemas.items()
    ]
    for config in configs:
        if not config.paths:
            what = "the ledger keeps records of it, and says no split that there is"
            raise BadData(what, config.name, "build again")
    return configs


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
