"""What the paper's tables count of the raw files of a build.

Only a ledger written under the paper's rules has the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.documents import Origin
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.dataset.ledger_reader import Ledger
from curation.dataset.paper_tables import measures_of

if TYPE_CHECKING:
    from pathlib import Path

    from curation.dataset.paper_tables import SchemaMeasures

_COLUMNS = (
    "config",
    "raw_size",
    "raw_field_count",
    "raw_fan_out",
    "raw_depth",
    "raw_draft",
)


def raw_file_measures(folder: Path) -> list[SchemaMeasures]:
    """Return the measures of each raw file that could be read; none where unknown.

    Rows of the embedded sample are left out.
    """
    if not all((folder / name).is_file() for name in (DOCUMENTS, CHANGES)):
        return []
    documents = Ledger(folder).documents()
    if not set(_COLUMNS) <= set(documents.collect_schema().names()):
        return []
    known = documents.filter(
        pl.col("raw_size").is_not_null(),
        pl.col("origin") != Origin.SAMPLE.value,
    )
    return [
        measures_of(config, (size, fields, fan_out, depth), draft)
        for config, size, fields, fan_out, depth, draft in known.select(_COLUMNS)
        .collect()
        .iter_rows()
    ]
