"""Compute the tables of an edition, for `csbdata stats` and the card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import RAW_IN_TABLE_9
from curation.core.documents import Origin
from curation.dataset.ledger import CHANGES, DOCUMENTS, open_ledger
from curation.dataset.paper_tables import (
    RawFigures,
    SchemaMeasures,
    by_config,
    figure_2,
    measure_row,
    measure_schemas,
    measures_of,
    table_1,
    table_8,
    table_9,
)

if TYPE_CHECKING:
    from curation.core.json_types import ReadOnlyJson
    from curation.dataset.editions import Edition

#: Columns of a build's rows that need not be counted anew.
_STATED = ("size", "features", "formats")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionStatistics:
    """The measures of an edition's records, and of raw files if it has them."""

    records: Sequence[SchemaMeasures]
    raw: Sequence[SchemaMeasures]
    #: Rows of the embedded sample that are left out, by config.
    left_out: Mapping[str, int]
    #: Config to its effective size (`effective_sizes`); empty where no column has it.
    effective: Mapping[str, float] = field(default_factory=dict)

    @property
    def measured(self) -> Sequence[SchemaMeasures]:
        """The schemas of Table 8: raw files if measured, else records."""
        return self.raw or self.records

    @property
    def declared(self) -> Sequence[SchemaMeasures]:
        """The schemas of Table 9: records, and raw files of one config."""
        raw = [schema for schema in self.raw if schema.config == RAW_IN_TABLE_9]
        if not raw:
            return self.records
        configs = by_config(self.records) | {RAW_IN_TABLE_9: raw}
        return [schema for own in configs.values() for schema in own]


def statistics_of(edition: Edition) -> EditionStatistics:
    """Return the measures of an edition."""
    counted, aside = _parted(edition)
    counts = aside.group_by("config").len().sort("config")
    return EditionStatistics(
        records=_measures_of(counted),
        raw=raw_file_measures(edition.folder),
        left_out=dict(counts.iter_rows()),
        effective=effective_sizes(counted) if "weight" in counted.columns else {},
    )


def effective_sizes(rows: pl.DataFrame) -> dict[str, float]:
    """Return how many independent records those of each config are worth, by name.

    Their number squared over the sum of the squared sizes of their clusters (L. Kish,
    "Survey Sampling", 1965): near-duplicates answer alike.

    Args:
        rows: Records with the columns `config` and `weight`.

    Example:
        >>> rows = pl.DataFrame({"config": ["A"] * 3, "weight": [0.5, 0.5, 1.0]})
        >>> effective_sizes(rows)
        {'A': 1.8}
    """
    # Each of a cluster's m records has weight 1/m: together 1/weight is m squared.
    worth = pl.len() ** 2 / (1 / pl.col("weight")).sum()
    sizes = rows.group_by("config").agg(worth.alias("worth")).sort("config")
    return dict(sizes.iter_rows())


def _measures_of(rows: pl.DataFrame) -> list[SchemaMeasures]:
    """Return the measures of every row whose text is JSON, in order.

    Columns of a row are used as they are, so that its features are those of its own
    dialect. A text without these columns is read under any.
    """
    is_stated = set(_STATED) <= set(rows.columns)
    if not is_stated or any(rows.select(_STATED).null_count().row(0)):
        return measure_schemas(rows.select("config", "json_schema").iter_rows())
    columns = rows.select("config", "json_schema", *_STATED)
    measured = (measure_row(*row) for row in columns.iter_rows())
    return [schema for schema in measured if schema is not None]


def _parted(edition: Edition) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows to count, and the sample's rows that are left out."""
    rows = edition.rows
    if "origin" not in rows.columns:
        return rows, rows.clear()
    is_sample = rows["origin"].fill_null("") == Origin.SAMPLE.value
    if is_sample.all():
        return rows, rows.clear()
    return rows.filter(~is_sample), rows.filter(is_sample)


def as_json(statistics: EditionStatistics) -> dict[str, ReadOnlyJson]:
    """Return all tables and figures as one JSON object."""
    spreads = table_8(statistics.measured)
    figure = figure_2(statistics.records)
    return {
        "table_1": table_1(statistics.records),
        "table_8": {
            config: {name: asdict(spread) for name, spread in measures.items()}
            for config, measures in spreads.items()
        },
        "table_8_of": "raw files" if statistics.raw else "records",
        "table_9": table_9(statistics.declared),
        "figure_2": {
            "features": dict(figure.features),
            "formats": dict(figure.formats),
        },
        "effective_sizes": dict(statistics.effective),
    }


_COLUMNS = ("config", *(column.name for column in fields(RawFigures)))


def raw_file_measures(folder: Path) -> list[SchemaMeasures]:
    """Return the measures of each readable raw file; none if unknown.

    Rows of the embedded sample are left out.

    Raises:
        BadData: the ledger is damaged, or not of this version.
    """
    if not all((folder / name).is_file() for name in (DOCUMENTS, CHANGES)):
        return []
    rows = (
        open_ledger(folder)
        .documents()
        .filter(
            pl.col("raw_size").is_not_null(), pl.col("origin") != Origin.SAMPLE.value
        )
    )
    return [
        measures_of(config, (size, fields, fan_out, depth), draft)
        for config, size, fields, fan_out, depth, draft in rows.select(_COLUMNS)
        .collect()
        .iter_rows()
    ]
