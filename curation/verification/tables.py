"""Check that `datasets` opens the tables, and that all is as a build writes it.

`datasets` opens the tables of every config offline. The card's own list of them is
compared byte for byte and never obeyed: it may name any file, or an address.

Written again by the same pyarrow, a table has the same bytes: nothing can hide in
its metadata, its statistics, or between its pages, and its files, row groups and page
indexes are those that the Hub's viewer needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, SPLITS, natural_key
from curation.dataset.parquet import (
    RECORDS,
    SplitFiles,
    TableForm,
    parquet_writer,
    split_files,
)
from curation.packaging.derived_files import differing_files
from curation.packaging.tables import table_form
from curation.system.checksums import compute_sums, names_in
from curation.system.errors import install_extra
from curation.system.words import counted
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    Finding,
    FolderCheck,
    FolderContents,
)


def config_batches(contents: FolderContents) -> Iterator[CheckBatch]:
    """Yield the configs, in one batch: `datasets` is imported once."""
    configs = dict.fromkeys(
        table.path if table.folder == LEDGER else table.folder
        for table in contents.tables.values()
        if table.metadata.num_rows
    )
    if configs and find_spec("datasets"):
        yield [CheckItem(where=where) for where in configs]


def open_config(folder: Path, item: CheckItem) -> CheckResult:
    """Open the tables of one config with `datasets`, and count their rows.

    Args:
        folder: The dataset folder.
        item: The config's folder, or the path of a table of the ledger.
    """
    import datasets  # noqa: PLC0415 - an extra, and slow to import

    datasets.disable_progress_bars()
    files = {split: split_files(folder, item.where, split) for split in SPLITS}
    if (folder / item.where).is_file():
        files = {SPLITS[0]: [item.where]}
    rows = {
        split: sum(pq.read_metadata(folder / path).num_rows for path in paths)
        for split, paths in files.items()
    }
    filled = {
        split: [str(folder.resolve() / path) for path in paths]
        for split, paths in files.items()
        if rows[split]
    }
    loaded = datasets.load_dataset("parquet", data_files=filled)
    findings = [
        Finding(
            where=f"{item.where}/{split}",
            detail=f"opens with {table.num_rows} of {counted(rows[split], 'row')}",
        )
        for split, table in loaded.items()
        if table.num_rows != rows[split]
    ]
    return CheckResult(
        findings=findings,
        counted={"opened config": 1, "opened split": len(loaded)},
    )


def judge_loading(_contents: FolderContents, result: CheckResult) -> CheckResult:
    """Return the result, or a note that `datasets` is not installed."""
    if find_spec("datasets"):
        return result
    detail = f"datasets is not installed: {install_extra('load')}"
    note = Finding(where="", detail=detail, failure=False, not_run=True)
    return CheckResult(findings=[note])


LOADING = FolderCheck(
    name="loading",
    question="does `datasets` open every config and split, without a network?",
    batches=config_batches,
    work=open_config,
    judge=judge_loading,
)


def table_batches(contents: FolderContents) -> Iterator[CheckBatch]:
    """Yield all derived files, then each table of the ledger and each split."""
    # Nothing can be computed from unreadable data, which is reported already.
    if not contents.findings:
        yield [CheckItem(where="")]
    for where in dict.fromkeys(
        table.path if table.folder == LEDGER else f"{table.folder}/{table.split}"
        for table in contents.tables.values()
    ):
        yield [CheckItem(where=where)]


def write_again(folder: Path, item: CheckItem) -> CheckResult:
    """Write again a ledger's table, the tables of a split, or all derived files."""
    if item.where:
        form = table_form(item.where)
        faults = [] if form is None else list(_table_faults(folder, item.where, form))
    else:
        wrong = "not computed from this data; csbdata card computes it anew"
        faults = [(name, wrong) for name in differing_files(folder)]
    return CheckResult(
        findings=[Finding(where=where, detail=detail) for where, detail in faults]
    )


def _table_faults(
    folder: Path, where: str, form: TableForm
) -> Iterator[tuple[str, str]]:
    """Yield path and fault of the tables that a build writes otherwise.

    Args:
        folder: The dataset folder.
        where: The path of a ledger's table, or a split's without its ending.
        form: The form of the tables.
    """
    inside, _, split = where.rpartition("/")
    in_ledger = inside == LEDGER
    names = [where] if in_ledger else split_files(folder, inside, split)
    paths = [folder / name for name in names]
    for name, path in zip(names, paths, strict=True):
        if wrong := _foreign_columns(pq.read_schema(path), form.columns):
            yield name, f"not the columns of a build: {wrong}"
            return
    groups = (
        file.read_row_group(group).cast(form.columns)
        for file in map(pq.ParquetFile, paths)
        for group in range(file.num_row_groups)
    )
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary)
        (again / inside).mkdir(parents=True)
        if in_ledger:
            writer = parquet_writer(again / where, form.columns, distinct=form.distinct)
            with writer:
                for group in groups:
                    writer.write_table(group, row_group_size=max(1, len(group)))
        else:
            with SplitFiles(again, inside, split, form) as files:
                for row in chain.from_iterable(map(pa.Table.to_pylist, groups)):
                    files.add(SimpleNamespace(**row))
        sums, right = compute_sums(folder, names), compute_sums(again, names_in(again))
    for name in sorted(sums.keys() | right):
        if sums.get(name) != right.get(name):
            yield name, "not written as a build writes its rows"
    if form is RECORDS:
        keys = [
            natural_key(name or "")
            for path in paths
            for name in pq.read_table(path, columns=["unique_id"])[0].to_pylist()
        ]
        if keys != sorted(keys):
            yield names[0], "its rows are not in natural order of the ids"


def _foreign_columns(columns: pa.Schema, expected: pa.Schema) -> str:
    """Return the names of the columns that differ; empty if none does.

    Equal types of lists may name their elements differently, and then have other
    hashes.
    """
    if columns == expected:
        return ""
    types, expected_types = (
        {column.name: column.type for column in each} for each in (columns, expected)
    )
    names = sorted(
        name
        for name in types.keys() | expected_types
        if types.get(name) != expected_types.get(name)
    )
    return ", ".join(names) or "their order"


def judge_tables(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Make notes of the findings if other versions than ours made the folder."""
    other = contents.other_maker()
    if not other:
        return result
    note = f"; {other} made it, which is not here"
    return CheckResult(
        findings=[
            replace(finding, detail=finding.detail + note, failure=False, not_run=True)
            for finding in result.findings
        ]
    )


DERIVED = FolderCheck(
    name="derived",
    question="are tables, card, licences and plots what a build writes of this data?",
    batches=table_batches,
    work=write_again,
    judge=judge_tables,
)
