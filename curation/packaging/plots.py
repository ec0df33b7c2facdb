"""The paper's tables of a dataset folder, and their plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from curation.core.documents import Origin
from curation.dataset.edition_statistics import statistics_of
from curation.dataset.paper_tables import (
    PLOTS,
    Figure2,
    Spread,
    figure_2,
    table_8,
    table_9,
)
from curation.fit.records import RecordFit, target_counts

if TYPE_CHECKING:
    from curation.dataset.editions import Edition


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTables:
    """The paper's tables of a folder, as `csbdata stats` prints them."""

    #: Config to measure to how it is distributed.
    table_8: dict[str, dict[str, Spread]]
    #: What Table 8 was computed on: `raw files` or `records`.
    table_8_of: str
    #: Config to draft to the schemas that declare it.
    table_9: dict[str, dict[str, int]]
    #: Feature and format to the number of schemas with it, most first.
    figure_2: Figure2
    #: Config to its rows of the embedded sample, which are not counted.
    left_out: Mapping[str, int]
    #: Target to the records that it takes as they stand, of `asked`.
    targets: Mapping[str, int] = field(default_factory=dict)
    asked: int = 0


#: The folder of plots in a dataset folder.
FOLDER = "plots"
#: The plot that is drawn where targets were asked.
_TARGETS = "targets"


def tables_of(edition: Edition) -> PaperTables | None:
    """Return the tables of a dataset folder; None without records."""
    statistics = statistics_of(edition)
    if not statistics.records:
        return None
    asked = fits_of_rows(edition.rows)
    return PaperTables(
        table_8=table_8(statistics.measured),
        table_8_of="raw files" if statistics.raw else "records",
        table_9=table_9(statistics.declared),
        figure_2=figure_2(statistics.records),
        left_out=statistics.left_out,
        targets={name: it.taken for name, it in target_counts(asked).items()},
        asked=len(asked),
    )


def fits_of_rows(rows: pl.DataFrame) -> list[RecordFit]:
    """Return the columns about targets; the sample's only if there are no others."""
    if "fits" not in rows.columns:
        return []
    real = rows.filter(pl.col("origin") != Origin.SAMPLE.value)
    asked = (real if real.height else rows).select(RecordFit._fields).drop_nulls()
    return [RecordFit(*row) for row in asked.iter_rows()]


def plot_paths(tables: PaperTables | None) -> list[str]:
    """Return the path of every plot of these tables in a dataset folder."""
    if tables is None:
        return []
    names = [*PLOTS, *([_TARGETS] if tables.targets else [])]
    return [f"{FOLDER}/{name}.{kind}" for name in names for kind in ("png", "svg")]


def draw_plots(tables: PaperTables, into: Path) -> None:
    """Draw the plots of these tables into a folder.

    Raises:
        OSError: a plot cannot be written.
    """
    from curation.dataset.plots import draw, targets  # noqa: PLC0415 - loads matplotlib

    folder = into / FOLDER
    draw(tables.figure_2, tables.table_8, tables.table_9, folder)
    if tables.targets:
        targets(tables.targets, tables.asked, folder / _TARGETS)
