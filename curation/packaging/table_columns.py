"""The columns of each table of a folder, and the refusal of others.

Card, plots and figures read columns by name; one that is missing, or of another type,
would end them somewhere inside polars.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, holds_instances, is_table
from curation.core.documents import Change
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import (
    CHANGE_COLUMNS,
    CHANGES,
    DISTINCT,
    DOCUMENT_COLUMNS,
    DOCUMENTS,
    LedgerRow,
)
from curation.dataset.parquet import RECORDS, TableForm, required_of
from curation.instances.dataset.parquet import (
    LEDGER_COLUMNS,
    LEDGER_DISTINCT,
    LEDGER_ROWS,
)
from curation.instances.dataset.parquet import ROWS as INSTANCES
from curation.instances.values.model import InstanceRow
from curation.system.checksums import names_in
from curation.system.errors import BadData
from curation.system.user_files import reading_parquet


def table_form(path: str) -> TableForm | None:
    """Return the form of the table at a path in a folder, with `/`.

    None for a path in the ledger's folder where no build writes a table.
    """
    inside = path.rpartition("/")[0]
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
            _compare(folder / name, form.columns, _required(name))


def _required(path: str) -> frozenset[str]:
    inside = path.rpartition("/")[0]
    of_config = InstanceRow if holds_instances(inside) else BenchmarkRecord
    of_ledger = {DOCUMENTS: LedgerRow, CHANGES: Change, **LEDGER_ROWS}
    row_type = of_ledger.get(path, of_config)
    # Null in a change is "nothing there".
    return required_of(row_type) - {"before", "after"}


def _lacking(metadata: pq.FileMetaData) -> Iterator[str]:
    """Yield the columns that lack a value in some row."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for column in map(group.column, range(group.num_columns)):
            if column.statistics and column.statistics.null_count:
                yield column.path_in_schema


def _compare(path: Path, columns: pa.Schema, required: frozenset[str]) -> None:
    then = "build again, or take the column out"
    with reading_parquet(path):
        metadata = pq.read_metadata(path)
        own = metadata.schema.to_arrow_schema()
    for column in columns:
        if column.name not in own.names:
            what = f"lacks the column {column.name} of this version of csbdata"
            raise BadData(what, str(path), "build again")
    if len(set(own.names)) < len(own.names):
        raise BadData("two columns have one name", str(path), then)
    lacking = required.intersection(_lacking(metadata))
    for column in own:
        is_column = column.name in columns.names
        if is_column and column.type != columns.field(column.name).type:
            right = columns.field(column.name).type
            what = f"the column {column.name} holds {column.type}, not {right}"
            raise BadData(what, str(path), "build again")
        if is_column and column.name in lacking:
            what = f"the column {column.name} lacks a value"
            raise BadData(what, str(path), "build again")
        if not is_column and not _is_known(column.type):
            what = (
                f"the column {column.name} holds {column.type}, which no build writes"
            )
            raise BadData(what, str(path), then)


def _is_known(arrow: pa.DataType) -> bool:
    inner = arrow.value_type if pa.types.is_list(arrow) else arrow
    return inner in {pa.string(), pa.int64(), pa.float64(), pa.bool_()}
