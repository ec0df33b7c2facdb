"""The columns of each table of a folder, and the refusal of others.

Card, plots and figures read columns by name; one that is missing, or of another type,
would end them somewhere inside polars.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from curation.core.benchmark import CORE, LEDGER, holds_instances, is_table
from curation.dataset import ledger
from curation.dataset.parquet import RECORDS, TableForm, refuse_columns, required_of
from curation.instances.dataset import parquet as instances
from curation.packaging.core import CORE_TABLE
from curation.system.checksums import names_in

#: The forms of the ledger's tables, those about instances among them.
LEDGER_FORMS: Final = {
    **ledger.FORMS,
    **{
        path: TableForm(
            columns=instances.LEDGER_COLUMNS[path],
            distinct=instances.LEDGER_DISTINCT,
            required=required_of(row_type),
        )
        for path, row_type in instances.LEDGER_ROWS.items()
    },
}


def table_form(path: str) -> TableForm | None:
    """Return the form of the table at a path in a folder, with `/`.

    None for a path in the ledger's folder where no build writes a table.
    """
    inside = path.rpartition("/")[0]
    if inside == LEDGER:
        return LEDGER_FORMS.get(path)
    if inside == CORE:
        return CORE_TABLE
    return instances.ROWS if holds_instances(inside) else RECORDS


def refuse_foreign_columns(folder: Path) -> None:
    """Refuse a folder with a table that lacks a column, or has one of another type.

    Further columns may be there, if the Hub's metadata has a name for their type.

    Raises:
        BadData: naming the table and the column (exit 65).
    """
    for name in sorted(filter(is_table, names_in(folder))):
        form = table_form(name) if "/" in name else None
        if form is not None:
            refuse_columns(folder / name, form)
