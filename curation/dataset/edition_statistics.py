"""Compute the tables of an edition, for `csbdata stats` and the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from curation.core.benchmark import RAW_IN_TABLE_9
from curation.core.documents import Origin
from curation.dataset.editions import Edition
from curation.dataset.ledger import DOCUMENTS, open_ledger
from curation.dataset.paper_tables import (
    SchemaMeasures,
    Spread,
    figure_2,
    measure_schemas,
    table_1,
    table_8,
    table_9,
)

#: Columns of a build's rows that need not be counted again.
_STATED = ("size", "features", "formats")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionStatistics:
    """The paper's tables of an edition; empty without a record that can be read."""

    #: Config to its records.
    table_1: Mapping[str, int] = field(default_factory=dict)
    #: Config to measure to its distribution.
    table_8: Mapping[str, Mapping[str, Spread]] = field(default_factory=dict)
    #: What Table 8 was computed on: `raw files` or `records`.
    table_8_of: str = "records"
    #: Config to draft to the schemas that declare it.
    table_9: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: `features` and `formats`: names to the schemas with it, most frequent first.
    figure_2: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Config to its effective size (`effective_sizes`); empty where no column has it.
    effective_sizes: Mapping[str, float] = field(default_factory=dict)
    #: Config to its rows of the embedded sample, which are not counted.
    left_out: Mapping[str, int] = field(default_factory=dict)


def compute_statistics(edition: Edition) -> EditionStatistics:
    """Return the tables of an edition."""
    rows = without_sample(edition.rows)
    is_stated = set(_STATED) <= set(rows.columns)
    if is_stated and not any(rows.select(_STATED).null_count().row(0)):
        # So features are of the row's dialect; others are read under any.
        records = rows.select("config", "json_schema", *_STATED)
    else:
        records = rows.select("config", "json_schema")
    schemas = measure_schemas(records.iter_rows())
    raw = _measure_raw_files(edition.folder)
    in_table_9 = [schema for schema in raw if schema.config == RAW_IN_TABLE_9]
    left_out = Counter(edition.rows["config"]) - Counter(rows["config"])
    return EditionStatistics(
        table_1=table_1(schemas),
        table_8=table_8(raw or schemas),
        table_8_of="raw files" if raw else "records",
        table_9=table_9(schemas) | table_9(in_table_9),
        figure_2=figure_2(schemas),
        effective_sizes=effective_sizes(rows) if "weight" in rows.columns else {},
        left_out=dict(sorted(left_out.items())),
    )


def without_sample(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that count: the embedded sample's only if it has all rows."""
    if "origin" not in rows.columns:
        return rows
    remaining = rows.filter(pl.col("origin").fill_null("") != Origin.SAMPLE.value)
    return remaining if remaining.height else rows


def effective_sizes(rows: pl.DataFrame) -> dict[str, float]:
    """Return the effective number of independent records, by config.

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


def _measure_raw_files(folder: Path) -> list[SchemaMeasures]:
    """Return the measures of each readable raw file; none if unknown.

    Rows of the embedded sample are left out.

    Raises:
        BadData: the ledger is damaged, or not of this version.
    """
    if not (folder / DOCUMENTS).is_file():
        return []
    rows = (
        open_ledger(folder)
        .documents()
        .filter(
            pl.col("raw_size").is_not_null(), pl.col("origin") != Origin.SAMPLE.value
        )
        .select(
            "config",
            size_kb=pl.col("raw_size") / 1024,
            field_count="raw_field_count",
            max_fan_out="raw_fan_out",
            schema_depth="raw_depth",
            draft="raw_draft",
        )
    )
    return [SchemaMeasures(**row) for row in rows.collect().iter_rows(named=True)]
