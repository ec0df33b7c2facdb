"""Refusing a folder whose tables another program wrote, or another version of csbdata.

Card, plots and figures read columns by name; one that is missing, or of another type,
would end them somewhere inside polars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, holds_instances, is_table
from curation.dataset.ledger import CHANGE_COLUMNS, CHANGES, DOCUMENT_COLUMNS, DOCUMENTS
from curation.dataset.parquet import COLUMNS as RECORDS
from curation.instances.dataset.parquet import COLUMNS as INSTANCES
from curation.packaging.hub_info import is_known_type
from curation.system.checksums import names_in
from curation.system.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

_LEDGER = {DOCUMENTS: DOCUMENT_COLUMNS, CHANGES: CHANGE_COLUMNS}


def refuse_foreign_columns(folder: Path) -> None:
    """Refuse a folder with a table that lacks a column, or has one of another type.

    Further columns may be there, if the Hub's metadata has a name for their type.

    Raises:
        BadData: naming the table and the column (exit 65).
    """
    for name in sorted(filter(is_table, names_in(folder))):
        inside = name.rpartition("/")[0]
        if inside and inside != LEDGER:
            own = INSTANCES if holds_instances(inside) else RECORDS
            _compare(folder / name, own)
        elif name in _LEDGER:
            _compare(folder / name, _LEDGER[name])


def _compare(path: Path, wanted: pa.Schema) -> None:
    then = "build again, or take the column out"
    try:
        given = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise BadData("not a parquet file that can be read", str(path)) from error
    for column in wanted:
        if column.name not in given.names:
            what = f"lacks the column {column.name} of this version of csbdata"
            raise BadData(what, str(path), "build again")
    if len(set(given.names)) < len(given.names):
        raise BadData("two columns have one name", str(path), then)
    for column in given:
        known = column.name in wanted.names
        if known and column.type != wanted.field(column.name).type:
            right = wanted.field(column.name).type
            what = f"the column {column.name} holds {column.type}, not {right}"
            raise BadData(what, str(path), "build again")
        if not known and not is_known_type(column.type):
            what = (
                f"the column {column.name} holds {column.type}, which no build writes"
            )
            raise BadData(what, str(path), then)
