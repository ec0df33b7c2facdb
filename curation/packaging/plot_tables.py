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
from curation.dataset.paper_tables import SchemaMeasures, measures_of
from curation.packaging.plot_process import PaperTables
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from curation.dataset.decisions import (
        DecidedDocument,
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
            own, draft = measures.record, measures.draft
            figures = own.size, own.field_count, measures.fan_out, own.depth
            record = measures_of(config, figures, draft, own.features, own.formats)
            aside.append(record)
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
        )
    )


def _tables(statistics: EditionStatistics) -> PaperTables | None:
    if not statistics.records:
        return None
    tables = {**as_json(statistics), "left_out": dict(statistics.left_out)}
    return msgspec.convert(tables, PaperTables)
