"""Compute the paper's tables of a dataset, from a build's documents or from its folder.

Both give the same. A build draws its plots before it has written its folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.documents import Origin
from curation.dataset.edition_statistics import (
    EditionStatistics,
    as_json,
    statistics_of,
)
from curation.dataset.editions import open_edition
from curation.dataset.paper_tables import RawFigures, SchemaMeasures, measures_of
from curation.packaging.plot_process import PaperTables
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from curation.dataset.decisions import (
        DecidedDocument,
        RecordMeasures,
        ResultMeasures,
    )


def tables_of_folder(folder: Path) -> PaperTables | None:
    """Return the tables of a dataset folder; None without records."""
    try:
        return _tables(statistics_of(open_edition(str(folder))))
    except NoInput:
        return None


def tables_of_documents(documents: Iterable[DecidedDocument]) -> PaperTables | None:
    """Return the tables of a build's documents; None without records."""
    records: list[SchemaMeasures] = []
    of_sample: list[SchemaMeasures] = []
    raw: list[SchemaMeasures] = []
    for document in documents:
        config, measures = document.result.config, document.result.measures()
        is_sample = document.source.provenance.origin is Origin.SAMPLE
        if document.kept and measures.record is not None:
            aside = of_sample if is_sample else records
            aside.append(_record_of(config, measures.record, measures))
        if measures.raw is not None and not is_sample:
            raw.append(_raw_file_of(config, measures.raw))
    left_out = Counter(schema.config for schema in of_sample if records)
    return _tables(
        EditionStatistics(
            records=records or of_sample,
            raw=raw,
            left_out=dict(sorted(left_out.items())),
        )
    )


def _record_of(
    config: str, record: RecordMeasures, measures: ResultMeasures
) -> SchemaMeasures:
    figures = record.size, record.field_count, measures.fan_out, record.depth
    return measures_of(config, figures, measures.draft, record.features, record.formats)


def _raw_file_of(config: str, raw: RawFigures) -> SchemaMeasures:
    figures = raw.raw_size, raw.raw_field_count, raw.raw_fan_out, raw.raw_depth
    return measures_of(config, figures, raw.raw_draft)


def _tables(statistics: EditionStatistics) -> PaperTables | None:
    if not statistics.records:
        return None
    tables = {**as_json(statistics), "left_out": dict(statistics.left_out)}
    return msgspec.convert(tables, PaperTables)
