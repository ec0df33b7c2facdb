"""Judge instances again by both validators, and make some records' instances again.

What is made again follows from a record's schema, its dialect and the versions of the
programs: its instances, all rows of the ledger about them, the targets that take it and
fastjsonschema's verdict. A seeded sample is taken of every row group, or all of it.
"""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import polars as pl

from curation.core.benchmark import (
    InstanceKind,
    holds_instances,
    instances_folder,
    records_config,
)
from curation.core.json_types import UntypedJson
from curation.dataset.parquet import split_files
from curation.fit.records import record_fit
from curation.instances.dataset import parquet as tables
from curation.instances.dataset.make_instances import (
    InstanceTask,
    RecordInstances,
    make_instances,
)
from curation.instances.dataset.worker import cost_too_much
from curation.instances.judging.grading import grade
from curation.instances.model import InstanceRow
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.rewritten_fits import rewritten_fit
from curation.system.words import counted, shortened
from curation.validation.fastjsonschema_check import ENDED, verdict
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    Finding,
    FolderCheck,
    FolderContents,
    folder_and_split,
    group_batches,
    group_rows,
)

_Row = Mapping[str, UntypedJson]
_Rows = Sequence[_Row]

#: Records of a row group whose instances are judged, and instances of each.
_RECORDS = 24
_OF_RECORD = 4
#: Regenerated records of a row group, and characters of the longest of them:
#: one of a megabyte takes seconds, and hundreds of megabytes.
_MADE_AGAIN = 2
_LENGTH = 20_000
#: The programs that decide the content, by their names in the manifest.
_MAKERS = ("csbdata", "fastjsonschema", "jsonschema", "jsonschema-rs", "regress")
_SHOWN = 60
#: The verdicts in the JSON text of them, to part it at.
_VERDICT = re.compile("(true|false|null)")
#: The labels that one verdict gives.
_LABELS = ("valid", "keyword", "schema_pointer", "instance_pointer", "fails_at")
_OF_INSTANCES = ("unique_id", "number", "text", "verdicts", *_LABELS)
_OF_RECORDS = (
    *("unique_id", "json_schema", "dialect", "sha256", "fastjsonschema", "fits"),
    *("fits_but_for", "fits_rewritten"),
)


def label_batches(contents: FolderContents) -> Iterator[CheckBatch]:
    """Yield the row groups of instances, and of records where its makers are here."""
    makes_again = not contents.other_maker(*_MAKERS)
    records = contents.records if makes_again else []
    return group_batches(
        [
            *(table for table in records if table.columns.issuperset(_OF_RECORDS)),
            *contents.instances,
        ]
    )


def judge_or_make_again(folder: Path, item: CheckItem) -> CheckResult:
    """Judge the instances of a row group, or regenerate its records'."""
    inside, split = folder_and_split(item.where)
    if holds_instances(inside):
        counted_name = "judged instance"
        compared, faults = _judge_again(folder, item, records_config(inside), split)
    else:
        counted_name = "regenerated record"
        compared, faults = _make_again(folder, item, inside, split)
    return CheckResult(
        findings=[
            Finding(where=f"{inside}/{unique_id}", detail=detail)
            for unique_id, detail in faults
        ],
        counted={counted_name: compared},
    )


def _rank(item: CheckItem, name: object) -> bytes:
    """Return the rank of a name in the order that the nonce draws."""
    return sha256(f"{item.nonce} {name}".encode("utf-8", "surrogatepass")).digest()


def _by_record(rows: Iterable[_Row]) -> defaultdict[str, list[_Row]]:
    by_record: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_record[row["unique_id"]].append(row)
    return by_record


def _judge_again(
    folder: Path, item: CheckItem, config: str, split: str
) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of instances judged, and the record of each fault with it."""
    by_record: Mapping[str, _Rows] = _by_record(
        group_rows(folder / item.where, item.group, _OF_INSTANCES)
    )
    if not item.whole:
        drawn = sorted(by_record, key=lambda name: _rank(item, name))[:_RECORDS]
        by_record = {
            name: sorted(
                by_record[name], key=lambda row: _rank(item, f"{name} {row['number']}")
            )[:_OF_RECORD]
            for name in drawn
        }
    schemas = _schemas(folder, tuple(split_files(folder, config, split)))
    faults: list[tuple[str, str]] = []
    for unique_id, instances in by_record.items():
        if unique_id not in schemas:
            faults.append((unique_id, "no such record"))
            continue
        graded = grade(*schemas[unique_id], [row["text"] for row in instances])
        if isinstance(graded, str):
            faults.append((unique_id, f"cannot be judged: {graded}"))
            continue
        for row, right in zip(instances, graded, strict=True):
            if fault := _label_fault(row, right):
                faults.append((unique_id, f"instance {row['number']}: {fault}"))
    return sum(map(len, by_record.values())), faults


@lru_cache(maxsize=1)
def _schemas(folder: Path, paths: tuple[str, ...]) -> Mapping[str, tuple[str, str]]:
    """Return schema and dialect of every record of a split; the last is remembered."""
    names = ["unique_id", "json_schema", "dialect"]
    return {
        unique_id: (text, dialect)
        for path in paths
        for unique_id, text, dialect in pl.read_parquet(
            folder / path, columns=names, glob=False
        ).iter_rows()
    }


def _label_fault(row: _Row, right: InstanceRow | str) -> str:
    """Return the fault of a row's labels; empty for none."""
    if isinstance(right, str):
        return f"cannot be judged: {right}"
    if fault := _difference([row], [{name: getattr(right, name) for name in _LABELS}]):
        return fault
    stated, judged = map(_VERDICT.split, (row["verdicts"], right.verdicts))
    # A validator that was not run then may be run now.
    if len(stated) != len(judged) or any(
        before not in {"null", now} for before, now in zip(stated, judged, strict=True)
    ):
        return f"verdicts {row['verdicts']} are not those of the validators"
    return ""


def _make_again(
    folder: Path, item: CheckItem, config: str, split: str
) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of records made again, and each fault with its record."""
    records: _Rows = group_rows(folder / item.where, item.group, _OF_RECORDS)
    if not item.whole:
        short = [record for record in records if len(record["json_schema"]) <= _LENGTH]
        short.sort(key=lambda record: _rank(item, record["unique_id"]))
        records = short[:_MADE_AGAIN]
    inside = instances_folder(config)
    instances = [folder / path for path in split_files(folder, inside, split)]
    files = {inside: instances} | {
        path: [folder / path] for path in tables.LEDGER_COLUMNS
    }
    by_table = {}
    if instances:
        ids = [record["unique_id"] for record in records]
        is_checked = pl.col("unique_id").is_in(ids)
        by_table = {path: _by_record([]) for path in files}
        for path, paths in files.items():
            if paths[0].exists():
                rows = pl.scan_parquet(paths, glob=False).filter(is_checked).collect()
                by_table[path] = _by_record(
                    row
                    for row in rows.iter_rows(named=True)
                    if row.get("config", config) == config
                )
    faults: list[tuple[str, str]] = []
    for record in records:
        # Garbage of the record before: the worker collects after whole items.
        gc.collect(0)
        unique_id = record["unique_id"]
        stated = {path: rows[unique_id] for path, rows in by_table.items()}
        wrong = list(_record_faults(record, config, split, stated))
        # A search that goes very deep ends a little later with filled caches.
        if wrong and not list(_record_faults(record, config, split, stated)):
            wrong = []
        faults += [(unique_id, fault) for fault in wrong]
    return len(records), faults


def _record_faults(
    record: _Row, config: str, split: str, rows: Mapping[str, _Rows]
) -> Iterator[str]:
    """Yield what of a record is another when it is made again.

    Args:
        record: The record.
        config: Its config.
        split: Its split.
        rows: Path of each table of the ledger, or the folder of its instances, to the
            record's rows in it; empty if the dataset holds no instances.
    """
    text = record["json_schema"]
    again: dict[str, object] = {}
    if record["fastjsonschema"] not in {None, *ENDED}:
        again["fastjsonschema"] = verdict(text)
    if record["fits"] is not None:
        fit = record_fit(text)
        again |= {"fits": [*fit.fits], "fits_but_for": [*fit.fits_but_for]}
    rewritten = rewritten_fit(record["sha256"])
    if record["fits_rewritten"] is not None and rewritten is not None:
        again["fits_rewritten"] = [*rewritten]
    if fault := _difference([record], [again]):
        yield fault
    if not rows:
        return
    inside, ledger = instances_folder(config), rows[tables.INSTANCE_LEDGER]
    if len(ledger) != 1:
        yield f"{counted(len(ledger), 'row')} in {tables.INSTANCE_LEDGER}"
        return
    if cost_too_much(ledger[0]["reason"], ledger[0]["detail"]):
        return
    task = InstanceTask(
        config=config,
        unique_id=record["unique_id"],
        split=split,
        schema=text,
        dialect=record["dialect"],
        examples=tuple(
            row["text"]
            for row in rows[inside]
            if row["kind"] == InstanceKind.GIVEN.value
        ),
    )
    result = make_instances(text, task.dialect, examples=task.examples)
    made = RecordInstances(task=task, result=result)
    row = asdict(tables.ledger_row(made))
    # Examples of a source that the schema refuses are in no table.
    row["examples_refused"] = ledger[0]["examples_refused"]
    instances = [replace(row, unique_id=task.unique_id) for row in result.instances]
    for path, right in (
        (inside, map(asdict, instances)),
        (tables.INSTANCE_LEDGER, [row]),
        (tables.MISSING, map(asdict, tables.missing_pairs(made))),
        (tables.DISAGREEMENTS, map(asdict, tables.disagreements(made))),
    ):
        if fault := _difference(rows[path], list(right)):
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
                return f"{name} is {old}, but {new} when made again (row {number})"
    return ""


def judge_labels(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Return the result, with a note if nothing was made again."""
    maker = contents.other_maker(*_MAKERS)
    if not maker:
        return result
    detail = f"nothing was made again: {maker} made it, which is not here"
    note = Finding(where=MANIFEST, detail=detail, failure=False)
    return CheckResult(findings=[note, *result.findings], counted=result.counted)


LABELS = FolderCheck(
    name="labels",
    question="are instances labelled as both validators judge, and made of the schema?",
    batches=label_batches,
    work=judge_or_make_again,
    judge=judge_labels,
)
