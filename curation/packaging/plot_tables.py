"""Compute the paper's tables of a dataset, from a build's documents or from its folder.

Both give the same. A build draws its plots before it has written its folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.documents import Origin
from curation.dataset.edition_statistics import (
    EditionStatistics,
    as_json,
    statistics_of,
)
from curation.dataset.editions import open_edition
from curation.dataset.paper_tables import SchemaMeasures, measures_of
from curation.fit.records import RecordFit, target_counts
from curation.packaging.plot_process import PaperTables
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from curation.dataset.decisions import DecidedDocument


def tables_of_folder(folder: Path) -> PaperTables | None:
    """Return the tables of a dataset folder; None without records."""
    try:
        edition = open_edition(str(folder))
        statistics = statistics_of(edition)
    except NoInput:
        return None
    return _tables(statistics, fits_of_rows(edition.rows))


def fits_of_rows(rows: pl.DataFrame) -> list[RecordFit]:
    """Return the columns about targets; the sample's only if there are no others."""
    if "fits" not in rows.columns:
        return []
    real = rows.filter(pl.col("origin") != Origin.SAMPLE.value)
    asked = (real if real.height else rows).select(RecordFit._fields).drop_nulls()
    return [RecordFit(*row) for row in asked.iter_rows()]


def tables_of_documents(
    documents: Iterable[DecidedDocument], fits: Mapping[str, RecordFit]
) -> PaperTables | None:
    """Return the tables of a build's documents; None without records.

    Args:
        documents: Every raw document with its decision.
        fits: Digest of a schema to the targets that take it, if any was asked.
    """
    records: list[SchemaMeasures] = []
    of_sample: list[SchemaMeasures] = []
    raw: list[SchemaMeasures] = []
    asked: dict[bool, list[RecordFit]] = {True: [], False: []}
    for document in documents:
        config, measures = document.result.config, document.result.measures()
        is_sample = document.source.provenance.origin is Origin.SAMPLE
        if document.kept and measures.record is not None:
            aside = of_sample if is_sample else records
            own, draft = measures.record, measures.draft
            figures = own.size, own.field_count, measures.fan_out, own.depth
            record = measures_of(config, figures, draft, own.features, own.formats)
            aside.append(record)
            asked[is_sample] += filter(None, [fits.get(document.result.sha256)])
        if measures.raw is not None and not is_sample:
            file = measures.raw
            figures = (
                file.raw_size,
                file.raw_field_count,
                file.raw_fan_out,
                file.raw_depth,
            )
            raw.append(measures_of(config, figures, file.raw_draft))
    left_out = Counter(schema.config for schema in of_sample if records)
    return _tables(
        EditionStatistics(
            records=records or of_sample,
            raw=raw,
            left_out=dict(sorted(left_out.items())),
        ),
        asked[not records],
    )


def _tables(
    statistics: EditionStatistics, asked: Sequence[RecordFit]
) -> PaperTables | None:
    if not statistics.records:
        return None
    counts = target_counts(asked)
    tables = {
        **as_json(statistics),
        "left_out": dict(statistics.left_out),
        "targets": {name: count.taken for name, count in counts.items()},
        "asked": len(asked),
    }
    return msgspec.convert(tables, PaperTables)
