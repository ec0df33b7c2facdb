"""Make instances and fastjsonschema's verdicts again, and compare.

They, and all rows of the ledger about them, follow from a record's schema, its dialect
and the versions of the programs. A seeded sample of records is made again, or all.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from curation.core.benchmark import instances_folder
from curation.dataset.parquet import split_files
from curation.fit.records import RecordFit, record_fit
from curation.instances.dataset import parquet as tables
from curation.instances.dataset.make_instances import make_instances
from curation.instances.dataset.tasks import InstanceTask, RecordInstances
from curation.instances.dataset.worker import cost_too_much
from curation.instances.values.model import InstanceKind
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.rewritten_fits import rewritten_fit
from curation.system.checksums import file_digest
from curation.system.escaping import shortened
from curation.system.words import counted
from curation.validation.fastjsonschema_check import ENDED
from curation.validation.fastjsonschema_worker import verdict
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    GroupFaults,
    ItemResult,
    judge_groups,
)
from curation.verification.findings import Finding
from curation.verification.rows import group_batches, row_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

    _Rows = Sequence[Mapping[str, object]]

_NAME = "remaking"
#: Records of a row group in the sample.
_RECORDS: Final = 2
#: Characters of the longest schema in the sample: one of a megabyte takes seconds, and
#: hundreds of megabytes.
_LENGTH: Final = 20_000
_COLUMNS: Final = (
    *("unique_id", "json_schema", "dialect", "sha256", "fastjsonschema"),
    *(*RecordFit._fields, "fits_rewritten"),
)
#: The programs that decide what is made, by their names in the manifest.
_MAKERS: Final = ("csbdata", "fastjsonschema", "jsonschema", "jsonschema-rs", "regress")
_SHOWN: Final = 60


class SampleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record that is made again."""

    unique_id: str
    json_schema: str
    dialect: str
    sha256: str
    fastjsonschema: str | None
    fits: tuple[str, ...] | None
    fits_but_for: tuple[str, ...] | None
    fits_rewritten: tuple[str, ...] | None


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    if contents.other_maker(*_MAKERS):
        return
    for table in contents.records():
        if table.columns.issuperset(_COLUMNS):
            yield from group_batches([table])


def _work(folder: Path, item: CheckItem) -> GroupFaults:
    """Make the instances of some records of a row group again, and compare.

    Raises:
        msgspec.ValidationError: a row does not have the columns of records.
    """
    config, _, name = item.where.rpartition("/")
    split = name.partition("-")[0]
    own = instances_folder(config)
    files = split_files(folder, own, split)
    sample = _sample(folder, item, files)
    ledger: dict[str, dict[str, _Rows]] = {}
    if files:
        ids = [record.unique_id for record in sample]
        ledger = {
            path: _rows_of([folder / path], ids, config)
            for path in tables.LEDGER_COLUMNS
        }
        ledger[own] = _rows_of([folder / path for path in files], ids, "")
    wrong: list[tuple[str, str]] = []
    for record in sample:
        # Garbage of the record before: the worker collects after whole items.
        gc.collect(0)
        rows = {path: own.get(record.unique_id, ()) for path, own in ledger.items()}
        task = InstanceTask(
            config=config,
            unique_id=record.unique_id,
            split=split,
            schema=record.json_schema,
            dialect=record.dialect,
        )
        faults = list(_faults(record, task, own, rows))
        # A search that goes very deep ends a little later with filled caches.
        if faults and not list(_faults(record, task, own, rows)):
            faults = []
        wrong += [(record.unique_id, fault) for fault in faults]
    return GroupFaults(compared=len(sample), wrong=wrong)


def _sample(
    folder: Path, item: CheckItem, instances: Sequence[str]
) -> list[SampleRecord]:
    """Return records of a row group: all, or a sample.

    Its tables' bytes and the item's nonce seed the sample.
    """
    columns = row_columns(folder / item.where, item.group, _COLUMNS)
    records = [
        msgspec.convert(dict(zip(_COLUMNS, values, strict=True)), SampleRecord)
        for values in zip(*(columns[name] for name in _COLUMNS), strict=True)
    ]
    if item.whole:
        return records
    seed = item.nonce + "".join(
        file_digest(folder / path) for path in (item.where, *instances)
    )

    def rank(record: SampleRecord) -> bytes:
        return sha256(f"{seed} {record.unique_id}".encode()).digest()

    short = (record for record in records if len(record.json_schema) <= _LENGTH)
    return sorted(short, key=rank)[:_RECORDS]


def _rows_of(paths: list[Path], ids: Sequence[str], config: str) -> dict[str, _Rows]:
    """Return the rows of some records in tables, by the record's id.

    Args:
        paths: The tables.
        ids: The records.
        config: Their config; empty for tables that hold no other.
    """
    rows = pl.scan_parquet(paths, glob=False).filter(pl.col("unique_id").is_in(ids))
    if config:
        rows = rows.filter(pl.col("config") == config)
    by_record: dict[str, list[Mapping[str, object]]] = {}
    for row in rows.collect().iter_rows(named=True):
        by_record.setdefault(row["unique_id"], []).append(row)
    return dict(by_record)


def _compiled_differently(record: SampleRecord) -> Iterator[str]:
    """Yield a verdict of fastjsonschema that differs from the row's."""
    column = record.fastjsonschema
    if column is None or column in ENDED:
        return
    again = verdict(record.json_schema)
    if again != column:
        yield f"fastjsonschema is {column!r}, but {again!r} when it compiles again"


def _made_differently(
    task: InstanceTask, own: str, rows: Mapping[str, _Rows]
) -> Iterator[str]:
    """Yield the tables whose rows of a record are made differently.

    Args:
        task: The record.
        own: The folder of its tables of instances.
        rows: Path of each table, or `own`, to the record's rows in it; empty if the
            folder holds no instances.
    """
    if not rows:
        return
    if len(rows[tables.INSTANCE_LEDGER]) != 1:
        number = counted(len(rows[tables.INSTANCE_LEDGER]), "row")
        yield f"{number} in {tables.INSTANCE_LEDGER}"
        return
    (result,) = rows[tables.INSTANCE_LEDGER]
    if cost_too_much(str(result["reason"]), str(result["detail"])):
        return
    examples = tuple(
        str(row["text"]) for row in rows[own] if row["kind"] == InstanceKind.GIVEN.value
    )
    again = RecordInstances(
        task=replace(task, examples=examples),
        result=make_instances(task.schema, task.dialect, examples=examples),
        seconds=0.0,
    )
    # Examples of a source that the schema refuses are in no table.
    ledger = asdict(tables.ledger_row(again))
    ledger["examples_refused"] = result["examples_refused"]
    tables_again: dict[str, _Rows] = {
        own: [
            asdict(replace(row, unique_id=task.unique_id))
            for row in again.result.instances
        ],
        tables.INSTANCE_LEDGER: [ledger],
        tables.MISSING: [asdict(row) for row in tables.missing_pairs(again)],
        tables.DISAGREEMENTS: [asdict(row) for row in tables.disagreements(again)],
    }
    for path, rows_again in tables_again.items():
        fault = _difference(rows[path], rows_again)
        if fault:
            yield f"{path}: {fault}"


def _faults(
    record: SampleRecord, task: InstanceTask, own: str, rows: Mapping[str, _Rows]
) -> Iterator[str]:
    yield from _compiled_differently(record)
    fit = RecordFit(record.fits or (), record.fits_but_for or ())
    if record.fits is not None and fit != record_fit(record.json_schema):
        yield f"fits is {', '.join(fit.fits)}, and another list by the profiles here"
    rewritten = record.fits_rewritten, rewritten_fit(record.sha256)
    if None not in rewritten and rewritten[0] != rewritten[1]:
        yield "fits_rewritten is another list than in the published results here"
    yield from _made_differently(task, own, rows)


def _difference(rows: _Rows, again: _Rows) -> str:
    """Return the first difference of rows from those made again; empty for none."""
    if len(rows) != len(again):
        return f"{counted(len(rows), 'row')}; its schema gives {len(again)}"
    for number, (row, right) in enumerate(zip(rows, again, strict=True)):
        for name, value in right.items():
            if row.get(name) != value:
                old, new = (
                    shortened(repr(text), _SHOWN) for text in (row.get(name), value)
                )
                return f"{name} of its row {number} is {old}; {new} is made"
    return ""


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    notes = []
    if maker := contents.other_maker(*_MAKERS):
        detail = f"nothing was made again: {maker} made it, which is not here"
        notes.append(Finding(check=_NAME, where=MANIFEST, detail=detail, failure=False))
    return judge_groups(_NAME, "records made again", results, *notes)


#: A sample of every row group.
REMAKING = FolderCheck(
    name=_NAME,
    question="are instances and their ledger the same when made again?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
