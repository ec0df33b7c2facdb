"""Is every instance labelled as both validators judge it?

A seeded sample is judged, or all instances. The sample follows from the rows
themselves: whoever changes a row draws another sample.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow.parquet as pq

from curation.core.benchmark import holds_instances, records_config
from curation.dataset.parquet import split_files
from curation.instances.judging.grading import grade
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.rows import group_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.instances.judging.grading import Grade
    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "instances"
#: Records of a row group that are drawn, and instances of each.
_RECORDS: Final = 24
_OF_RECORD: Final = 4
_COLUMNS: Final = (
    "unique_id",
    "number",
    "text",
    "valid",
    "keyword",
    "schema_pointer",
    "instance_pointer",
    "verdicts",
)


class InstanceLabel(msgspec.Struct, frozen=True, kw_only=True):
    """One row of instances: a text and what is said of it."""

    unique_id: str
    number: int
    text: str
    valid: bool
    #: What alone refuses it, and where; empty for an instance that is accepted.
    keyword: str
    schema_pointer: str
    instance_pointer: str
    #: JSON text: each validator's verdicts, formats on and formats off.
    verdicts: str


class StatedVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """What a row says that the validators said; null where one was not asked."""

    jsonschema_rs: tuple[bool, bool]
    jsonschema: tuple[bool | None, bool | None]
    #: Of a schema that heeds what its draft ignores; None where it ignores nothing.
    heeding: StatedVerdicts | None = None

    def listed(self) -> tuple[bool | None, ...]:
        """Return the four verdicts, in the order of `Grade.heeding`."""
        return (*self.jsonschema_rs, *self.jsonschema)


class JudgedInstances(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one row group."""

    judged: int
    #: Of each instance that is not as its row says: its record, and what is wrong.
    wrong: list[tuple[str, str]]


def _of_all(contents: FolderContents) -> Iterator[CheckBatch]:
    for units in _of_a_sample(contents):
        yield [
            CheckUnit(where=unit.where, group=unit.group, whole=True) for unit in units
        ]


def _of_a_sample(contents: FolderContents) -> Iterator[CheckBatch]:
    tables = contents.tables.values()
    return group_batches(table for table in tables if holds_instances(table.folder))


def _work(folder: Path, unit: CheckUnit) -> JudgedInstances:
    """Judge instances of one row group again.

    Raises:
        msgspec.ValidationError: a row does not have the columns of instances.
    """
    with pq.ParquetFile(folder / unit.where) as file:
        listed = file.read_row_group(unit.group, columns=list(_COLUMNS)).to_pylist()
    rows = msgspec.convert(listed, list[InstanceLabel])
    by_record: dict[str, list[InstanceLabel]] = {}
    for row in rows:
        by_record.setdefault(row.unique_id, []).append(row)
    if not unit.whole:
        by_record = _drawn(by_record)
    inside, _, name = unit.where.rpartition("/")
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
        for row, found in zip(instances, graded.grades, strict=True):
            fault = _fault(row, found)
            if fault:
                wrong.append((unique_id, f"instance {row.number}: {fault}"))
    return JudgedInstances(judged=sum(map(len, by_record.values())), wrong=wrong)


def _drawn(
    by_record: Mapping[str, Sequence[InstanceLabel]],
) -> dict[str, list[InstanceLabel]]:
    """Return some instances of some records, in the order of the rows."""
    everything = sha256()
    for rows in by_record.values():
        everything.update(msgspec.json.encode(rows))
    seed = everything.digest()

    def rank(name: str) -> bytes:
        return sha256(seed + name.encode("utf-8", "surrogatepass")).digest()

    chosen = frozenset(sorted(by_record, key=rank)[:_RECORDS])
    drawn: dict[str, list[InstanceLabel]] = {}
    for unique_id, rows in by_record.items():
        if unique_id in chosen:
            first = sorted(rows, key=lambda row: rank(f"{unique_id} {row.number}"))
            drawn[unique_id] = first[:_OF_RECORD]
    return drawn


@lru_cache(maxsize=1)
def _places(folder: Path, paths: tuple[str, ...]) -> Mapping[str, str]:
    """Return the table of every record of a split; the last split is remembered."""
    found: dict[str, str] = {}
    for path in paths:
        with pq.ParquetFile(folder / path) as file:
            names = file.read(columns=["unique_id"])["unique_id"].to_pylist()
        found |= dict.fromkeys(names, path)
    return found


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


def _fault(row: InstanceLabel, found: Grade) -> str:
    """Return what a row says wrongly of its instance; empty if nothing."""
    if found.jsonschema_rs is None:
        return f"cannot be judged: {found.error}"
    try:
        stated = msgspec.json.decode(row.verdicts, type=StatedVerdicts)
    except msgspec.MsgspecError as error:
        return f"verdicts cannot be read ({error})"
    if row.valid != found.jsonschema_rs:
        word = "accepts" if found.jsonschema_rs else "refuses"
        return f"valid is {str(row.valid).lower()}, but jsonschema-rs {word} it"
    own = (
        *(found.jsonschema_rs, found.jsonschema_rs_plain),
        *(found.jsonschema, found.jsonschema_plain),
    )
    if (stated.heeding is None) != (found.heeding is None):
        return f"verdicts {row.verdicts} are not of each interpretation"
    heeding = stated.heeding.listed() if stated.heeding else ()
    for said, judged in ((stated.listed(), own), (heeding, found.heeding or ())):
        if any(
            one not in {None, other} for one, other in zip(said, judged, strict=True)
        ):
            return f"verdicts {row.verdicts} are not those of the validators"
    label = (row.keyword, row.schema_pointer, row.instance_pointer)
    judged_label = (found.keyword, found.schema_pointer, found.instance_pointer)
    if label != judged_label:
        return (
            f"{row.keyword or 'no keyword'} at {row.schema_pointer or 'the root'}, but "
            f"it is {found.keyword or 'none'} at {found.schema_pointer or 'the root'}"
        )
    return ""


def _judge(_: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    judged = 0
    for result in results:
        unit = result.unit
        if not result.answered:
            detail = f"row group {unit.group}: {result.result.ending}: {result.detail}"
            findings.append(Finding(check=_NAME, where=unit.where, detail=detail))
            continue
        answer = result.answer_as(JudgedInstances)
        judged += answer.judged
        inside = unit.where.rpartition("/")[0]
        findings += [
            Finding(check=_NAME, where=f"{inside}/{unique_id}", detail=detail)
            for unique_id, detail in answer.wrong
        ]
    return CheckResult(findings=findings, counted={"instances judged": judged})


#: A seeded sample of every row group.
INSTANCES = FolderCheck(
    name=_NAME,
    question="is an instance labelled as both validators judge it?",
    judge=_judge,
    batches=_of_a_sample,
    work=_work,
)
#: Every instance.
ALL_INSTANCES = replace(INSTANCES, batches=_of_all)
