"""Read what the site shows: an edition, and the dataset that it was measured on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from curation.dataset.content_digest import content_digest
from curation.dataset.editions import config_names, instance_tables, split_of_file
from curation.fit.records import RecordFit, TargetCount, target_counts
from curation.system.errors import BadConfiguration, NoInput
from curation.system.user_files import reading_parquet
from evaluation.results.edition import (
    Index,
    Line,
    common_records,
    read_index,
    read_rows,
)
from evaluation.results.fits import reached, read_fits
from evaluation.results.headline import headline
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.reporting.tables import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One file of the site."""

    #: Relative to the site's folder, with `/` between its parts.
    path: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Site:
    """An edition, and maybe its dataset."""

    #: The edition's folder.
    folder: Path
    index: Index
    lines: list[Line]
    #: The dataset's folder; None: pages say nothing of schemas and texts.
    data: Path | None = None

    @property
    def engines(self) -> list[str]:
        """Every engine of the edition, as `rows.parquet` names it."""
        return [entry.engine for entry in self.index.engines]

    @cached_property
    def by_task(self) -> dict[tuple[str, str], list[Line]]:
        """Lines by engine and task."""
        groups: dict[tuple[str, str], list[Line]] = {}
        for line in self.lines:
            groups.setdefault((line["engine"], line["task"]), []).append(line)
        return groups

    @cached_property
    def common(self) -> frozenset[tuple[str, str]]:
        """Config and id of the records of task masks that every engine was asked."""
        return frozenset(common_records(self.lines))

    @cached_property
    def common_lines(self) -> dict[str, list[Line]]:
        """Lines of task masks about the common records, by engine; none is empty."""
        lines = {
            engine: [
                line for line in own if (line["config"], line["id"]) in self.common
            ]
            for (engine, task), own in self.by_task.items()
            if task == MASKS
        }
        return {engine: own for engine, own in lines.items() if own}

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The lines, as a table."""
        return read_rows(self.folder)

    @cached_property
    def headline(self) -> pl.DataFrame:
        """Outcomes and times, a line a config and engine."""
        return headline(self.rows.filter(task=MASKS))

    @cached_property
    def features(self) -> Counter[str]:
        """Features to the records of the dataset that have them; none without it."""
        return Counter(
            name
            for own in self._columns("features")["features"].to_list()
            for name in own or ()
        )

    @cached_property
    def features_of(self) -> int:
        """Number of records in the dataset."""
        return self._columns("unique_id").height

    @cached_property
    def fits(self) -> dict[str, TargetCount]:
        """Targets to the records that they take as they are; none without data."""
        rows = self._columns(*RecordFit._fields)
        return target_counts(RecordFit(**row) for row in rows.iter_rows(named=True))

    @cached_property
    def reached(self) -> dict[str, list[Rate]]:
        """What targets take of the sample, by `WAYS`; none without `fits.parquet`."""
        return reached(read_fits(self.folder))

    def _columns(self, *names: str) -> pl.DataFrame:
        """Return columns of all records of the dataset, those that it has."""
        if self.data is None:
            return pl.DataFrame(schema=dict.fromkeys(names, pl.List(pl.String)))
        return pl.concat(
            pl.scan_parquet(path, glob=False).select(f"^({'|'.join(names)})$").collect()
            for config in config_names(self.data)
            for path in sorted((self.data / config).glob("*.parquet"))
        )

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield every record of the dataset: its columns, `config`, `split`.

        Under `instances` are its texts, each with the columns of their table.
        """
        if self.data is None:
            return
        for config in config_names(self.data):
            texts: dict[str, list[dict[str, Any]]] = {}
            for path in instance_tables(self.data, config):
                for row in _rows(path):
                    texts.setdefault(row["unique_id"], []).append(row)
            for path in sorted((self.data / config).glob("*.parquet")):
                for row in _rows(path):
                    own = texts.get(row["unique_id"], [])
                    split = split_of_file(path) or ""
                    yield {**row, "config": config, "split": split, "instances": own}


def open_site(results: Path, data: Path | None) -> Site:
    """Open an edition and its dataset.

    Raises:
        NoInput: one of them is not there.
        BadData: a file of them cannot be read.
        BadConfiguration: the edition was measured on another dataset.
    """
    index, lines = read_index(results), read_rows(results).to_dicts()
    if data is not None:
        if not data.is_dir():
            raise NoInput("no such dataset", str(data), "csbdata build makes one")
        if (own := content_digest(data)) != index.dataset.content:
            raise BadConfiguration(
                f"content {own[:16]}, measured was {index.dataset.content[:16]}",
                str(data),
                "name the dataset of the edition, or leave --data out",
            )
    return Site(
        folder=results,
        index=index,
        lines=lines,
        data=data,
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with reading_parquet(path):
        yield from pl.read_parquet(path, glob=False).iter_rows(named=True)
