"""Judge instances again, by both validators: a seeded sample, or all of them.

The sample follows from the rows themselves: a changed row draws another sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow.parquet as pq

from curation.core.benchmark import holds_instances, records_config
from curation.dataset.parquet import split_files
from curation.instances.grading import Grade, grade
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    FolderCheck,
    GroupFaults,
    judge_groups,
)
from curation.verification.rows import group_batches

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "instances"
#: Records of a row group that are drawn, and instances of each.
_RECORDS: Final = 24
_OF_RECORD: Final = 4
_COLUMNS: Final = (
    *("unique_id", "number", "text", "valid", "keyword", "schema_pointer"),
    *("instance_pointer", "fails_at", "verdicts"),
)


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


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    tables = contents.tables.values()
    return group_batches(table for table in tables if holds_instances(table.folder))


def _work(folder: Path, item: CheckItem) -> GroupFaults:
    """Judge instances of one row group again.

    Raises:
        msgspec.ValidationError: a row does not have the columns of instances.
    """
    with pq.ParquetFile(folder / item.where) as file:
        columns = file.read_row_group(item.group, columns=list(_COLUMNS)).to_pylist()
    rows = msgspec.convert(columns, list[InstanceLabel])
    by_record: dict[str, list[InstanceLabel]] = {}
    for row in rows:
        by_record.setdefault(row.unique_id, []).append(row)
    if not item.whole:
        by_record = _sample(by_record, item.nonce)
    inside, _, name = item.where.rpartition("/")
    config, split = records_config(inside), name.partition("-")[0]
    places = _places(folder, tuple(split_files(folder, config, split)))
    wrong: list[tuple[str, str]] = []
    for unique_id, instances in by_record.items():
        if unique_id not in places:
            wrong.append((unique_id, "no such record"))
            continue
        schema, dialect = _schemas(folder / places[unique_id])[unique_id]
        graded = grade(schema, dialect, [row.text for row in instances])
        if graded.error:
            wrong.append((unique_id, f"cannot be judged: {graded.error}"))
            continue
        for row, own in zip(instances, graded.grades, strict=True):
            fault = _fault(row, own)
            if fault:
                wrong.append((unique_id, f"instance {row.number}: {fault}"))
    return GroupFaults(compared=sum(map(len, by_record.values())), wrong=wrong)


def _sample(
    by_record: Mapping[str, Sequence[InstanceLabel]], nonce: str
) -> dict[str, list[InstanceLabel]]:
    """Return some instances of some records, in the order of the rows."""
    everything = sha256(nonce.encode())
    for rows in by_record.values():
        everything.update(msgspec.json.encode(rows))
    seed = everything.digest()

    def rank(name: str) -> bytes:
        return sha256(seed + name.encode("utf-8", "surrogatepass")).digest()

    sample: dict[str, list[InstanceLabel]] = {}
    records = frozenset(sorted(by_record, key=rank)[:_RECORDS])
    for unique_id, rows in by_record.items():
        if unique_id in records:
            ranked = sorted(rows, key=lambda row: rank(f"{unique_id} {row.number}"))
            sample[unique_id] = ranked[:_OF_RECORD]
    return sample


@lru_cache(maxsize=1)
def _places(folder: Path, paths: tuple[str, ...]) -> Mapping[str, str]:
    """Return the table of every record of a split; the last split is remembered."""
    places: dict[str, str] = {}
    for path in paths:
        with pq.ParquetFile(folder / path) as file:
            names = file.read(columns=["unique_id"])["unique_id"].to_pylist()
        places |= dict.fromkeys(names, path)
    return places


@lru_cache(maxsize=1)
def _schemas(path: Path) -> Mapping[str, tuple[str, str]]:
    """Return schema and dialect of every record of a table; the last is remembered."""
    with pq.ParquetFile(path) as file:
        table = file.read(columns=["unique_id", "json_schema", "dialect"])
    columns = (table[name].to_pylist() for name in table.column_names)
    return {
        unique_id: (text, dialect)
        for unique_id, text, dialect in zip(*columns, strict=True)
    }


def _fault(row: InstanceLabel, grade: Grade) -> str:
    """Return the fault of a row's labels; empty for none."""
    if grade.jsonschema_rs is None:
        return f"cannot be judged: {grade.error}"
    try:
        verdicts = msgspec.json.decode(row.verdicts, type=RowVerdicts)
    except msgspec.MsgspecError as error:
        return f"verdicts cannot be read ({error})"
    if row.valid != grade.jsonschema_rs:
        word = "accepts" if grade.jsonschema_rs else "refuses"
        return f"valid is {str(row.valid).lower()}, but jsonschema-rs {word} it"
    own = (
        *(grade.jsonschema_rs, grade.jsonschema_rs_plain),
        *(grade.jsonschema, grade.jsonschema_plain),
    )
    if (verdicts.heeding is None) != (grade.heeding is None):
        return f"verdicts {row.verdicts} are not of each interpretation"
    heeding = verdicts.heeding.listed() if verdicts.heeding else ()
    pairs = (
        *zip(verdicts.listed(), own, strict=True),
        *zip(heeding, grade.heeding or (), strict=True),
    )
    if any(verdict not in {None, right} for verdict, right in pairs):
        return f"verdicts {row.verdicts} are not those of the validators"
    label = (row.keyword, row.schema_pointer, row.instance_pointer)
    if label != (grade.keyword, grade.schema_pointer, grade.instance_pointer):
        return (
            f"{row.keyword or 'no keyword'} at {row.schema_pointer or 'the root'}, but "
            f"it is {grade.keyword or 'none'} at {grade.schema_pointer or 'the root'}"
        )
    if row.fails_at != grade.fails_at:
        return f"fails_at is {row.fails_at}, but its text fails at {grade.fails_at}"
    return ""


#: A sample of every row group.
INSTANCES = FolderCheck(
    name=_NAME,
    question="are instances labelled as both validators judge them?",
    judge=lambda _contents, results: judge_groups(_NAME, "instances judged", results),
    batches=_batches,
    work=_work,
)
