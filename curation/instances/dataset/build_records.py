"""The records of a build: all of them, one by its id, or as MaskBench's files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import SPLITS, in_benchmark_order, instances_folder
from curation.dataset.editions import open_edition
from curation.dataset.parquet import file_name, split_files
from curation.dataset.story import closest_ids
from curation.instances.dataset.build_step import InstanceTask
from curation.instances.dataset.maskbench import MaskFile, MaskTest
from curation.instances.model import InstanceRow
from curation.system.errors import BadConfiguration, NoInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


@dataclass(slots=True)
class Records:
    """The records of a build; its files are read when they are first needed."""

    folder: Path
    _rows: pl.DataFrame | None = None

    def rows(self) -> pl.DataFrame:
        """Return all records.

        Raises:
            NoInput: the folder is no build.
            BadConfiguration: its records do not say their dialect.
        """
        if self._rows is None:
            rows = open_edition(str(self.folder)).rows
            if "dialect" not in rows.columns:
                raise BadConfiguration("no column dialect", str(self.folder))
            self._rows = rows
        return self._rows

    def chosen(
        self, configs: Collection[str] = (), splits: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return the records of some configs and splits.

        Args:
            configs: Names of configs; none for all.
            splits: Names of splits; none for all.

        Raises:
            NoInput: the build has no such config.
        """
        rows = self.rows()
        unknown = set(configs) - set(rows["config"])
        if unknown:
            known = ", ".join(in_benchmark_order(set(rows["config"])))
            name = ", ".join(sorted(unknown))
            raise NoInput(f"no config {name}", str(self.folder), f"there are {known}")
        for column, wanted in (("config", configs), ("split", splits)):
            if wanted:
                rows = rows.filter(pl.col(column).is_in(list(wanted)))
        return rows

    def tasks(self) -> Iterator[InstanceTask]:
        """Yield the task of every record, in the order of the build."""
        columns = ("config", "unique_id", "split", "json_schema", "dialect")
        for row in self.rows().select(columns).iter_rows():
            yield _task(row)

    def one(self, wanted: str) -> InstanceTask:
        """Return the record of an id, or of `config/id`.

        Raises:
            NoInput: there is none, or several have that id.
        """
        rows = self.rows()
        found = rows.filter(pl.col("unique_id") == wanted)
        config, slash, unique_id = wanted.partition("/")
        if found.is_empty() and slash:
            found = rows.filter(config=config, unique_id=unique_id)
        if found.is_empty():
            near = closest_ids(wanted, rows["unique_id"].to_list())
            then = f"did you mean {', '.join(near)}?" if near else ""
            raise NoInput(f"no record is named {wanted!r}", str(self.folder), then)
        if len(found) > 1:
            names = ", ".join(f"{config}/{wanted}" for config in found["config"])
            raise NoInput(f"several records are named {wanted!r}", "", names)
        columns = ("config", "unique_id", "split", "json_schema", "dialect")
        return _task(found.select(columns).row(0))


def _task(row: tuple[str, ...]) -> InstanceTask:
    config, unique_id, split, schema, dialect = row
    return InstanceTask(
        config=config,
        unique_id=unique_id,
        split=split or SPLITS[-1],
        schema=schema,
        dialect=dialect,
    )


def maskbench_files(folder: Path, rows: pl.DataFrame) -> Iterator[MaskFile]:
    """Yield MaskBench's file of every record, with the instances of the build.

    A record without instances has a file without tests, as in MaskBench itself.

    Args:
        folder: The build.
        rows: Records of it (`Records.chosen`).

    Raises:
        NoInput: the build was made without instances.
    """
    for (config, split), chosen in rows.group_by(
        ["config", "split"], maintain_order=True
    ):
        made = _instances(folder, str(config), str(split))
        for unique_id, text in chosen.select("unique_id", "json_schema").iter_rows():
            yield MaskFile(
                split=str(config),
                unique_id=unique_id,
                description=f"{config}/{unique_id}",
                schema=json.loads(text),
                tests=tuple(_test(row) for row in made.get(unique_id, ())),
            )


def _instances(folder: Path, config: str, split: str) -> dict[str, list[InstanceRow]]:
    """Return the instances of a split by the ids of their records."""
    inside = instances_folder(config)
    there = [folder / path for path in split_files(folder, inside, split)]
    if not there:
        path = folder / file_name(inside, split)
        raise NoInput("no instances here", str(path), "csbdata build --instances")
    content = pl.read_parquet(there, glob=False).to_dicts()
    found: dict[str, list[InstanceRow]] = {}
    for row in msgspec.convert(content, list[InstanceRow]):
        found.setdefault(row.unique_id, []).append(row)
    return found


def _test(row: InstanceRow) -> MaskTest:
    description = row.kind
    if row.keyword:
        description += f": {row.keyword} at {row.schema_pointer}"
    return MaskTest(description=description, valid=row.valid, data=row.value)
