"""The tables of a folder: their forms, the refusal of others, and the config `core`.

`core` has the few records that represent all measured ones. `python -m
bench.edition.core` chooses them from the rows of an edition of results, and writes
their names, difficulties and weights into its folder.

Card, plots and figures read columns by name; a missing one, or another type,
would end them somewhere inside polars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl

from curation.core.benchmark import CORE, LEDGER, SPLITS, holds_instances, is_table
from curation.core.records import BenchmarkRecord
from curation.dataset import ledger
from curation.dataset.editions import open_edition
from curation.dataset.parquet import (
    RECORDS,
    SplitFiles,
    TableForm,
    make_columns,
    read_required,
    refuse_columns,
)
from curation.instances.dataset import parquet as instances
from curation.packaging.counts import DataFiles
from curation.system.checksums import names_in

#: The file of an edition that names the records.
CORE_LIST = "core.tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreRecord(BenchmarkRecord):
    """A record of the config, with the columns that only it has."""

    #: The config that has the record, and its instances.
    config: str
    #: The share of engine families that fail it, 0 to 1.
    difficulty: float
    #: The number of measured records that it represents.
    stands_for: float


#: The table of the config.
CORE_TABLE = replace(RECORDS, columns=make_columns(CoreRecord))


#: The forms of the ledger's tables, those about instances among them.
LEDGER_FORMS = {
    **ledger.FORMS,
    **{
        path: TableForm(
            columns=instances.LEDGER_COLUMNS[path],
            distinct=instances.LEDGER_DISTINCT,
            required=read_required(row_type),
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
    """Refuse a folder with a table that lacks a column, or has one with another type.

    Further columns may exist, if the Hub's metadata has a name for their type.

    Raises:
        BadData: naming the table and the column (exit 65).
    """
    for name in sorted(filter(is_table, names_in(folder))):
        form = table_form(name) if "/" in name else None
        if form is not None:
            refuse_columns(folder / name, form)


def write_core(folder: Path, edition: Path, into: Path) -> DataFiles:
    """Write the config's table; return the config with it, or nothing.

    Args:
        folder: The dataset, whose content the edition measured.
        edition: The folder of published results.
        into: Where the table goes, which may be the dataset.

    Raises:
        OSError: the table cannot be written.
    """
    if not (edition / CORE_LIST).exists():
        return {}
    chosen = pl.read_csv(edition / CORE_LIST, separator="\t")
    name = pl.concat_str("config", "unique_id", separator="/").alias("id")
    rows = open_edition(str(folder)).rows.with_columns(name)
    core = chosen.join(rows, on="id", maintain_order="left")
    (into / CORE).mkdir(exist_ok=True)
    split = SPLITS[-1]
    with SplitFiles(into, CORE, split, CORE_TABLE) as files:
        for row in core.iter_rows(named=True):
            files.add(SimpleNamespace(**row))
    return {CORE: {split: [f"{CORE}/{split}-*.parquet"]}}
