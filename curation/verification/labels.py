"""Judge instances again by both validators, and make some records' instances again.

What is made again follows from a record's schema, its dialect and the versions of the
programs: its instances, all rows of the ledger about them, the targets that take it and
fastjsonschema's verdict. A seeded sample is taken of every row group, or all of it.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl
import pyarrow.parquet as pq

from curation.core.benchmark import holds_instances, instances_folder, records_config
from curation.dataset.parquet import split_files
from curation.fit.records import RecordFit, record_fit
from curation.instances.dataset import parquet as tables
from curation.instances.dataset.make_instances import (
    InstanceTask,
    RecordInstances,
    make_instances,
)
from curation.instances.dataset.worker import cost_too_much
from curation.instances.grading import Grade, grade
from curation.instances.values.model import InstanceKind
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.rewritten_fits import rewritten_fit
from curation.system.escaping import shortened
from curation.system.words import counted
from curation.validation.fastjsonschema_check import ENDED
from curation.validation.fastjsonschema_worker import verdict
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.rows import group_batches, row_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

    _Rows = Sequence[Mapping[str, object]]

_NAME = "labels"
#: Records of a row group whose instances are judged, and instances of each.
_RECORDS: Final = 24
_OF_RECORD: Final = 4
#: Records of a row group that are made again, and characters of the longest of them:
#: one of a megabyte takes seconds, and hundreds of megabytes.
_MADE_AGAIN: Final = 2
_LENGTH: Final = 20_000
#: The programs that decide what is made, by their names in the manifest.
_MAKERS: Final = ("csbdata", "fastjsonschema", "jsonschema", "jsonschema-rs", "regress")
_SHOWN: Final = 60


class InstanceLabel(msgspec.Struct, frozen=True, kw_only=True):
    """One row of instances: a text and its labels."""

    unique_id: str
    number: int
    text: str
    valid: bool
    #: The only keyword that refuses it, and its place; empty if it is accepted.
    keyword: str
    schema_pointer: str
    instance_pointer: str
    #: Where its text fails, at the latest; None if it is accepted.
    fails_at: int | None
    #: JSON text: each validator's verdicts, formats on and formats off.
    verdicts: str


class RowVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """The validators' verdicts in a row; null for one that did not run."""

    jsonschema_rs: tuple[bool, bool]
    jsonschema: tuple[bool | None, bool | None]
    #: With the keywords that the draft ignores; None if the schema has none.
    heeding: RowVerdicts | None = None

    def listed(self) -> tuple[bool | None, ...]:
        """Return the four verdicts, in the order of `Grade.heeding`."""
        return (*self.jsonschema_rs, *self.jsonschema)


class RecordColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a record that is made again."""

    unique_id: str
    json_schema: str
    dialect: str
    sha256: str
    fastjsonschema: str | None
    fits: tuple[str, ...] | None
    fits_but_for: tuple[str, ...] | None
    fits_rewritten: tuple[str, ...] | None


class GroupFaults(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one row group."""

    #: Instances that were judged, or records that were made again.
    compared: int
    #: The record of each fault, and the fault.
    wrong: list[tuple[str, str]]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    makes_again = not contents.other_maker(*_MAKERS)
    for table in contents.tables.values():
        if holds_instances(table.folder) or (
            makes_again
            and table.holds_records
            and table.columns.issuperset(RecordColumns.__struct_fields__)
        ):
            yield from group_batches([table])


def _work(folder: Path, item: CheckItem) -> GroupFaults:
    """Judge the instances of a row group, or make those of its records again.

    Raises:
        msgspec.ValidationError: a row does not have the columns of its kind.
    """
    if holds_instances(item.where):
        return _judged_again(folder, item)
    return _made_again(folder, item)


def _rank(item: CheckItem, name: str) -> bytes:
    """Return the place of a name in the order that the nonce draws."""
    return sha256(f"{item.nonce} {name}".encode("utf-8", "surrogatepass")).digest()


def _judged_again(folder: Path, item: CheckItem) -> GroupFaults:
    with pq.ParquetFile(folder / item.where) as file:
        names = list(InstanceLabel.__struct_fields__)
        columns = file.read_row_group(item.group, columns=names).to_pylist()
    by_record: dict[str, list[InstanceLabel]] = {}
    for row in msgspec.convert(columns, list[InstanceLabel]):
        by_record.setdefault(row.unique_id, []).append(row)
    if not item.whole:
        drawn = sorted(by_record, key=lambda name: _rank(item, name))[:_RECORDS]
        by_record = {
            name: sorted(
                by_record[name], key=lambda row: _rank(item, f"{name} {row.number}")
            )[:_OF_RECORD]
            for name in drawn
        }
    inside, _, name = item.where.rpartition("/")
    config, split = records_config(inside), name.partition("-")[0]
    schemas = _schemas(folder, tuple(split_files(folder, config, split)))
    wrong: list[tuple[str, str]] = []
    for unique_id, instances in by_record.items():
        if unique_id not in schemas:
            wrong.append((unique_id, "no such record"))
            continue
        graded = grade(*schemas[unique_id], [row.text for row in instances])
        if graded.error:
            wrong.append((unique_id, f"cannot be judged: {graded.error}"))
            continue
        for row, right in zip(instances, graded.grades, strict=True):
            fault = _label_fault(row, right)
            if fault:
                wrong.append((unique_id, f"instance {row.number}: {fault}"))
    return GroupFaults(compared=sum(map(len, by_record.values())), wrong=wrong)


@lru_cache(maxsize=1)
def _schemas(folder: Path, paths: tuple[str, ...]) -> Mapping[str, tuple[str, str]]:
    """Return schema and dialect of every record of a split; the last is remembered."""
    names = ["unique_id", "json_schema", "dialect"]
    rows = [
        row
        for path in paths
        for row in pl.read_parquet(folder / path, columns=names, glob=False).rows()
    ]
    return {unique_id: (text, dialect) for unique_id, text, dialect in rows}


def _label_fault(row: InstanceLabel, right: Grade) -> str:
    """Return the fault of a row's labels; empty for none."""
    if right.jsonschema_rs is None:
        return f"cannot be judged: {right.error}"
    try:
        verdicts = msgspec.json.decode(row.verdicts, type=RowVerdicts)
    except msgspec.MsgspecError as error:
        return f"verdicts cannot be read ({error})"
    if row.valid != right.jsonschema_rs:
        word = "accepts" if right.jsonschema_rs else "refuses"
        return f"valid is {str(row.valid).lower()}, but jsonschema-rs {word} it"
    if (verdicts.heeding is None) != (right.heeding is None):
        return f"verdicts {row.verdicts} are not of each interpretation"
    heeding = verdicts.heeding.listed() if verdicts.heeding else ()
    stated = (*verdicts.listed(), *heeding)
    judged = (
        *(right.jsonschema_rs, right.jsonschema_rs_plain),
        *(right.jsonschema, right.jsonschema_plain, *(right.heeding or ())),
    )
    if any(one not in {None, other} for one, other in zip(stated, judged, strict=True)):
        return f"verdicts {row.verdicts} are not those of the validators"
    label = (row.keyword, row.schema_pointer, row.instance_pointer)
    if label != (right.keyword, right.schema_pointer, right.instance_pointer):
        return (
            f"{row.keyword or 'no keyword'} at {row.schema_pointer or 'the root'}, but "
            f"it is {right.keyword or 'none'} at {right.schema_pointer or 'the root'}"
        )
    if row.fails_at != right.fails_at:
        return f"fails_at is {row.fails_at}, but its text fails at {right.fails_at}"
    return ""


def _made_again(folder: Path, item: CheckItem) -> GroupFaults:
    names = RecordColumns.__struct_fields__
    columns = row_columns(folder / item.where, item.group, names)
    records = [
        msgspec.convert(dict(zip(names, values, strict=True)), RecordColumns)
        for values in zip(*(columns[name] for name in names), strict=True)
    ]
    if not item.whole:
        short = [each for each in records if len(each.json_schema) <= _LENGTH]
        short.sort(key=lambda record: _rank(item, record.unique_id))
        records = short[:_MADE_AGAIN]
    config, _, name = item.where.rpartition("/")
    split = name.partition("-")[0]
    inside = instances_folder(config)
    ids = [record.unique_id for record in records]
    by_table: dict[str, dict[str, _Rows]] = {}
    if files := split_files(folder, inside, split):
        by_table = {
            path: _rows_of([folder / path], ids, config)
            for path in tables.LEDGER_COLUMNS
        }
        by_table[inside] = _rows_of([folder / path for path in files], ids, "")
    wrong: list[tuple[str, str]] = []
    for record in records:
        # Garbage of the record before: the worker collects after whole items.
        gc.collect(0)
        rows = {path: own.get(record.unique_id, ()) for path, own in by_table.items()}
        faults = list(_faults(record, config, split, rows))
        # A search that goes very deep ends a little later with filled caches.
        if faults and not list(_faults(record, config, split, rows)):
            faults = []
        wrong += [(record.unique_id, fault) for fault in faults]
    return GroupFaults(compared=len(records), wrong=wrong)


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


def _faults(
    record: RecordColumns, config: str, split: str, rows: Mapping[str, _Rows]
) -> Iterator[str]:
    """Yield what of a record is another when it is made again.

    Args:
        record: The record.
        config: Its config.
        split: Its split.
        rows: Path of each table of the ledger, or the folder of its instances, to the
            record's rows in it; empty if the dataset holds no instances.
    """
    compiled = record.fastjsonschema
    if compiled is not None and compiled not in ENDED:
        again = verdict(record.json_schema)
        if again != compiled:
            yield f"fastjsonschema is {compiled!r}, but {again!r} when compiled again"
    fit = RecordFit(record.fits or (), record.fits_but_for or ())
    if record.fits is not None and fit != record_fit(record.json_schema):
        yield f"fits is {', '.join(fit.fits)}, and another list by the profiles here"
    rewritten = record.fits_rewritten, rewritten_fit(record.sha256)
    if None not in rewritten and rewritten[0] != rewritten[1]:
        yield "fits_rewritten is another list than in the published results here"
    if not rows:
        return
    if len(rows[tables.INSTANCE_LEDGER]) != 1:
        number = counted(len(rows[tables.INSTANCE_LEDGER]), "row")
        yield f"{number} in {tables.INSTANCE_LEDGER}"
        return
    (result,) = rows[tables.INSTANCE_LEDGER]
    if cost_too_much(str(result["reason"]), str(result["detail"])):
        return
    inside = instances_folder(config)
    task = InstanceTask(
        config=config,
        unique_id=record.unique_id,
        split=split,
        schema=record.json_schema,
        dialect=record.dialect,
        examples=tuple(
            str(row["text"])
            for row in rows[inside]
            if row["kind"] == InstanceKind.GIVEN.value
        ),
    )
    made = RecordInstances(
        task=task,
        result=make_instances(task.schema, task.dialect, examples=task.examples),
    )
    # Examples of a source that the schema refuses are in no table.
    ledger = asdict(tables.ledger_row(made))
    ledger["examples_refused"] = result["examples_refused"]
    rows_again: dict[str, _Rows] = {
        inside: [
            asdict(replace(row, unique_id=task.unique_id))
            for row in made.result.instances
        ],
        tables.INSTANCE_LEDGER: [ledger],
        tables.MISSING: [asdict(row) for row in tables.missing_pairs(made)],
        tables.DISAGREEMENTS: [asdict(row) for row in tables.disagreements(made)],
    }
    for path, right in rows_again.items():
        fault = _difference(rows[path], right)
        if fault:
            yield f"{path}: {fault}"


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
    findings = []
    if maker := contents.other_maker(*_MAKERS):
        detail = f"nothing was made again: {maker} made it, which is not here"
        findings.append(
            Finding(check=_NAME, where=MANIFEST, detail=detail, failure=False)
        )
    total: Counter[str] = Counter()
    for item, group in answers(_NAME, results, GroupFaults, findings):
        is_judged = holds_instances(item.where)
        total["instances judged" if is_judged else "records made again"] += (
            group.compared
        )
        inside = item.where.rpartition("/")[0]
        findings += [
            Finding(check=_NAME, where=f"{inside}/{unique_id}", detail=detail)
            for unique_id, detail in group.wrong
        ]
    return CheckResult(findings=findings, counted=total)


LABELS = FolderCheck(
    name=_NAME,
    question="are instances labelled as both validators judge, and made of the schema?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
