"""The columns of each table of a folder, and the refusal of others.

Card, plots and figures read columns by name; one that is missing, or of another type,
would end them somewhere inside polars.
"""

from __future__ import annotations

from pathlib import Path

from curation.core.benchmark import CORE, LEDGER, holds_instances, is_table
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import (
    CHANGE_COLUMNS,
    CHANGES,
    DISTINCT,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    REQUIRED,
)
from curation.dataset.parquet import RECORDS, TableForm, refuse_columns, required_of
from curation.instances.dataset.parquet import (
    LEDGER_COLUMNS,
    LEDGER_DISTINCT,
    LEDGER_ROWS,
)
from curation.instances.dataset.parquet import ROWS as INSTANCES
from curation.instances.model import InstanceRow
from curation.packaging.core import CORE_TABLE
from curation.system.checksums import names_in


def table_form(path: str) -> TableForm | None:
    """Return the form of the table at a path in a folder, with `/`.

    None for a path in the ledger's folder where no build writes a table.
    """
    inside = path.rpartition("/")[0]
    if inside == CORE:
        return CORE_TABLE
    if inside != LEDGER:
        return INSTANCES if holds_instances(inside) else RECORDS
    own = {DOCUMENTS: DOCUMENT_COLUMNS, CHANGES: CHANGE_COLUMNS}
    columns = own.get(path) or LEDGER_COLUMNS.get(path)
    if columns is None:
        return None
    distinct = DISTINCT if path in own else LEDGER_DISTINCT
    return TableForm(
        columns=columns, distinct=distinct, text="", most_length=0, most_rows=0
    )


def refuse_foreign_columns(folder: Path) -> None:
    """Refuse a folder with a table that lacks a column, or has one of another type.

    Further columns may be there, if the Hub's metadata has a name for their type.

    Raises:
        BadData: naming the table and the column (exit 65).
    """
    for name in sorted(filter(is_table, names_in(folder))):
        form = table_form(name) if "/" in name else None
        if form is not None:
            refuse_columns(folder / name, form.columns, _required(name))


def _required(path: str) -> frozenset[str]:
    of_config = InstanceRow if holds_instances(path.rpartition("/")[0]) else None
    row_type = LEDGER_ROWS.get(path) or of_config or BenchmarkRecord
    return REQUIRED.get(path) or required_of(row_type)
