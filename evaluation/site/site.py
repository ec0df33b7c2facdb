"""Read the input of the site: an edition, and its dataset."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from curation.dataset.content_digest import SHARE, unchanged_records
from curation.system.errors import BadConfiguration, NoInput
from evaluation.data.parquet_tables import ParquetTables
from evaluation.results.edition import Index, Line, read_index, read_rows
from evaluation.results.headline import ALL, headline, with_keys
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evaluation.core.records import Record


class Page(NamedTuple):
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
    rows: pl.DataFrame
    #: The dataset's folder; None: pages omit schemas and texts.
    data: Path | None = None
    #: Records that the dataset has as they were measured, as `CONFIG/ID`.
    unchanged: frozenset[str] = frozenset()

    @property
    def engines(self) -> list[str]:
        """Every engine of the edition, as `rows.parquet` names it."""
        return [entry.engine for entry in self.index.engines]

    @cached_property
    def masks(self) -> pl.DataFrame:
        """The rows of task masks, with `CONFIG/ID` as their column `key`."""
        return with_keys(self.rows.filter(task=MASKS))

    @cached_property
    def figures(self) -> list[Line]:
        """The headline, by config and engine: outcomes and times on common records."""
        return headline(self.masks).to_dicts()

    @cached_property
    def headline(self) -> dict[str, Line]:
        """Engines to their lines for all configs, the best first."""
        return {line["engine"]: line for line in self.figures if line["config"] == ALL}

    @property
    def common(self) -> int:
        """Number of records of task masks that every engine was asked."""
        return max((line["asked"] for line in self.headline.values()), default=0)

    def records(self) -> Iterator[Record]:
        """Yield every record of the dataset with its texts."""
        tables = self.data and ParquetTables.of(self.data, "build")
        if tables:
            yield from tables.records(range(sys.maxsize))


def open_site(results: Path, data: Path | None) -> Site:
    """Open an edition and its dataset.

    Raises:
        NoInput: one of them is not there.
        BadData: a file of them cannot be read.
        BadConfiguration: the edition was measured on another dataset.
    """
    index, rows = read_index(results), read_rows(results)
    unchanged: set[str] = set()
    if data is not None:
        if not data.is_dir():
            raise NoInput("no such dataset", str(data), "csbdata build makes one")
        unchanged, records = unchanged_records(data, results)
        if not records or len(unchanged) < SHARE * records:
            raise BadConfiguration(
                f"has {len(unchanged):,} of the {records:,} records that were measured",
                str(data),
                "name the dataset of the edition, or leave --data out",
            )
    return Site(
        folder=results,
        index=index,
        rows=rows,
        data=data,
        unchanged=frozenset(unchanged),
    )
