"""Compute the paper's tables of a dataset folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl

from curation.core.documents import Origin
from curation.dataset.edition_statistics import as_json, statistics_of
from curation.dataset.editions import open_edition
from curation.fit.records import RecordFit, target_counts
from curation.packaging.plot_process import PaperTables
from curation.system.errors import NoInput


def tables_of_folder(folder: Path) -> PaperTables | None:
    """Return the tables of a dataset folder; None without records."""
    try:
        edition = open_edition(str(folder))
        statistics = statistics_of(edition)
    except NoInput:
        return None
    if not statistics.records:
        return None
    asked = fits_of_rows(edition.rows)
    tables = {
        **as_json(statistics),
        "left_out": dict(statistics.left_out),
        "targets": {name: it.taken for name, it in target_counts(asked).items()},
        "asked": len(asked),
    }
    return msgspec.convert(tables, PaperTables)


def fits_of_rows(rows: pl.DataFrame) -> list[RecordFit]:
    """Return the columns about targets; the sample's only if there are no others."""
    if "fits" not in rows.columns:
        return []
    real = rows.filter(pl.col("origin") != Origin.SAMPLE.value)
    asked = (real if real.height else rows).select(RecordFit._fields).drop_nulls()
    return [RecordFit(*row) for row in asked.iter_rows()]
