"""Is what programs made of a schema what they make of it again?

Instances, all that the ledger says of them, and fastjsonschema's verdict follow from a
record's schema, its dialect and the versions of the programs. Those of a seeded
sample of records are made again, or those of all records, and compared.
"""

from __future__ import annotations

import gc
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from curation.core.benchmark import instances_folder
from curation.dataset.parquet import split_files
from curation.instances.dataset import parquet as tables
from curation.instances.dataset.build_step import InstanceTask, RecordInstances
from curation.instances.dataset.make_instances import make_instances
from curation.instances.dataset.worker_program import cost_too_much
from curation.instances.model import InstanceKind
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import read_facts, versions_here
from curation.system.checksums import file_digest
from curation.system.escaping import shortened
from curation.validation.fastjsonschema_check import ENDED
from curation.validation.fastjsonschema_worker import verdict
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.rows import group_batches, row_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

    _Rows = Sequence[Mapping[str, object]]

_NAME = "remaking"
#: Records of a row group that are drawn.
_RECORDS: Final = 2
#: Characters of the longest schema that is drawn: one of a megabyte takes seconds, and
#: hundreds of megabytes.
_LENGTH: Final = 20_000
_COLUMNS: Final = ("unique_id", "json_schema", "dialect", "fastjsonschema")
#: The programs that decide what is made, by their names in the manifest.
_MAKERS: Final = ("csbdata", "fastjsonschema", "jsonschema", "jsonschema-rs", "regress")
_SHOWN: Final = 60


class DrawnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record that is made again."""

    unique_id: str
    json_schema: str
    dialect: str
    fastjsonschema: str | None


class RemadeRecords(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the records of one row group."""

    made: int
    #: Of each that is made otherwise: its id, and what differs.
    wrong: list[tuple[str, str]]


def _other_maker(contents: FolderContents) -> str:
    """Return a program that made the folder in another version; empty for none."""
    if contents.manifest is None:
        return MANIFEST
    stated, here = read_facts(contents.folder).versions, versions_here()
    for name in _MAKERS:
        if stated.get(name) != here[name]:
            return f"{name} {stated.get(name)}"
    # Python's minor version decides which characters there are.
    python = stated.get("python", "").rpartition(".")[0]
    if python != here["python"].rpartition(".")[0]:
        return f"Python {python}"
    return ""


def _of_a_sample(contents: FolderContents) -> Iterator[CheckBatch]:
    if _other_maker(contents):
        return
    for table in contents.records():
        if set(_COLUMNS) <= set(table.metadata.schema.to_arrow_schema().names):
            yield from group_batches([table])


def _of_all(contents: FolderContents) -> Iterator[CheckBatch]:
    for units in _of_a_sample(contents):
        yield [
            CheckUnit(where=unit.where, group=unit.group, whole=True) for unit in units
        ]


def _work(folder: Path, unit: CheckUnit) -> RemadeRecords:
    """Make what there is of some records of a row group again, and compare.

    Raises:
        msgspec.ValidationError: a row does not have the columns of records.
    """
    config, _, name = unit.where.rpartition("/")
    split = name.partition("-")[0]
    own = instances_folder(config)
    files = split_files(folder, own, split)
    drawn = _drawn(folder, unit, files)
    told: dict[str, dict[str, _Rows]] = {}
    if files:
        ids = [record.unique_id for record in drawn]
        told = {
            path: _rows_of([folder / path], ids, config)
            for path in tables.LEDGER_COLUMNS
        }
        told[own] = _rows_of([folder / path for path in files], ids, "")
    wrong: list[tuple[str, str]] = []
    for record in drawn:
        # What the one before has left: the worker collects after units alone.
        gc.collect(0)
        stated = {path: rows.get(record.unique_id, ()) for path, rows in told.items()}
        task = InstanceTask(
            config=config,
            unique_id=record.unique_id,
            split=split,
            schema=record.json_schema,
            dialect=record.dialect,
        )
        faults = [*_compiled_otherwise(record), *_made_otherwise(task, own, stated)]
        if faults:
            # A search that goes very deep ends a little later with filled caches.
            again = [*_compiled_otherwise(record), *_made_otherwise(task, own, stated)]
            faults = faults if again else []
        wrong += [(record.unique_id, fault) for fault in faults]
    return RemadeRecords(made=len(drawn), wrong=wrong)


def _drawn(
    folder: Path, unit: CheckUnit, instances: Sequence[str]
) -> list[DrawnRecord]:
    """Return records of a row group: all, or those that its tables' bytes draw."""
    columns = row_columns(folder / unit.where, unit.group, _COLUMNS)
    records = [
        msgspec.convert(dict(zip(_COLUMNS, values, strict=True)), DrawnRecord)
        for values in zip(*(columns[name] for name in _COLUMNS), strict=True)
    ]
    if unit.whole:
        return records
    seed = "".join(file_digest(folder / path) for path in (unit.where, *instances))

    def rank(record: DrawnRecord) -> bytes:
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
    found: dict[str, list[Mapping[str, object]]] = {}
    for row in rows.collect().iter_rows(named=True):
        found.setdefault(row["unique_id"], []).append(row)
    return dict(found)


def _compiled_otherwise(record: DrawnRecord) -> Iterator[str]:
    """Yield where fastjsonschema says something else of a schema than its row."""
    stated = record.fastjsonschema
    if stated is None or stated in ENDED:
        return
    found = verdict(record.json_schema)
    if found != stated:
        yield f"fastjsonschema is {stated!r}, but {found!r} when it is asked again"


def _made_otherwise(
    task: InstanceTask, own: str, stated: Mapping[str, _Rows]
) -> Iterator[str]:
    """Yield where the instances of a record, or the ledger's words, are not made again.

    Args:
        task: The record.
        own: The folder of its tables of instances.
        stated: Path of each table, or `own`, to the record's rows in it; empty where
            the folder holds no instances.
    """
    if not stated:
        return
    if len(stated[tables.INSTANCE_LEDGER]) != 1:
        yield f"{len(stated[tables.INSTANCE_LEDGER])} rows in {tables.INSTANCE_LEDGER}"
        return
    (told,) = stated[tables.INSTANCE_LEDGER]
    if cost_too_much(str(told["reason"]), str(told["detail"])):
        return
    given = tuple(
        str(row["text"])
        for row in stated[own]
        if row["kind"] == InstanceKind.GIVEN.value
    )
    made = RecordInstances(
        task=replace(task, examples=given),
        result=make_instances(task.schema, task.dialect, examples=given),
        seconds=0.0,
    )
    # What a source gave and the schema refused is in no table.
    ledger = asdict(tables.ledger_row(made))
    ledger["examples_refused"] = told["examples_refused"]
    again: dict[str, _Rows] = {
        own: [
            asdict(replace(row, unique_id=task.unique_id))
            for row in made.result.instances
        ],
        tables.INSTANCE_LEDGER: [ledger],
        tables.MISSING: [asdict(row) for row in tables.missing_pairs(made)],
        tables.UNREACHED: [asdict(row) for row in tables.unreached_places(made)],
        tables.DISAGREEMENTS: [asdict(row) for row in tables.disagreements(made)],
        tables.AJV: [asdict(row) for row in tables.ajv_disagreements(made)],
    }
    for path, rows in again.items():
        fault = _difference(stated[path], rows)
        if fault:
            yield f"{path}: {fault}"


def _difference(stated: _Rows, made: _Rows) -> str:
    """Return in what rows first differ from those that are made; empty for nothing."""
    if len(stated) != len(made):
        return f"{len(stated)} rows; {len(made)} are made of its schema"
    for number, (one, other) in enumerate(zip(stated, made, strict=True)):
        for name, value in other.items():
            if one.get(name) != value:
                given, wanted = (
                    shortened(repr(text), _SHOWN) for text in (one.get(name), value)
                )
                return f"{name} of its row {number} is {given}; {wanted} is made"
    return ""


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    if maker := _other_maker(contents):
        detail = f"nothing was made again: {maker} made it, which is not here"
        findings.append(
            Finding(check=_NAME, where=MANIFEST, detail=detail, failure=False)
        )
    made = 0
    for result in results:
        unit = result.unit
        if not result.answered:
            detail = f"row group {unit.group}: {result.result.ending}: {result.detail}"
            findings.append(Finding(check=_NAME, where=unit.where, detail=detail))
            continue
        answer = result.answer_as(RemadeRecords)
        made += answer.made
        inside = unit.where.rpartition("/")[0]
        findings += [
            Finding(check=_NAME, where=f"{inside}/{unique_id}", detail=detail)
            for unique_id, detail in answer.wrong
        ]
    return CheckResult(findings=findings, counted={"records made again": made})


#: A seeded sample of every row group.
REMAKING = FolderCheck(
    name=_NAME,
    question="are instances, and the ledger's words on them, what is made again?",
    judge=_judge,
    batches=_of_a_sample,
    work=_work,
)
#: Every record.
ALL_REMADE = replace(REMAKING, batches=_of_all)
