"""Does a schema, or one that says nearly the same, stand in two splits?

Split and near-duplicate cluster of every record are derived again from its schema.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import split_of
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.schema.dialects import BY_NAME
from curation.schema.similarity.near_duplicates import clusters
from curation.schema.similarity.shingles import shingles, split_key
from curation.schema.skeleton import skeleton
from curation.verification.checks.counts import record_columns
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.rows import row_batches, row_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "leakage"
#: The rule set whose splits follow from the skeleton's digest.
_PAPER = "paper"
_COLUMNS = (
    "unique_id",
    "json_schema",
    "dialect",
    "sha256",
    "skeleton_sha256",
    "split_key",
    "cluster",
)


class RecordShingles(msgspec.Struct, frozen=True, kw_only=True):
    """What a row says of its split and its cluster, and what they follow from."""

    unique_id: str | None
    sha256: str | None
    skeleton_sha256: str | None
    split_key: str | None
    cluster: str | None
    #: None where the schema cannot be read; another check says so.
    shingles: bytes | None


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    for table in contents.records():
        if set(_COLUMNS) <= set(table.metadata.schema.to_arrow_schema().names):
            yield from row_batches(table)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _work(folder: Path, unit: CheckUnit) -> RecordShingles:
    rows = row_columns(folder / unit.where, unit.group, _COLUMNS)
    row = {name: _text(rows[name][unit.row]) for name in _COLUMNS}
    schema = jsontext.parse((row["json_schema"] or "").encode("utf-8", "surrogatepass"))
    dialect = BY_NAME.get(row["dialect"] or "")
    packed = None
    if dialect is not None and not isinstance(schema, Rejected):
        packed = shingles(skeleton(schema, dialect))
    return RecordShingles(
        unique_id=row["unique_id"],
        sha256=row["sha256"],
        skeleton_sha256=row["skeleton_sha256"],
        split_key=row["split_key"],
        cluster=row["cluster"],
        shingles=packed,
    )


def _name(row: dict[str, str]) -> str:
    return f"{row['config']}/{row['unique_id']}"


def _shared(rows: pl.DataFrame, column: str) -> Iterator[list[dict[str, str]]]:
    """Yield the rows that share a digest, first the one that stands first."""
    numbered = rows.with_row_index().filter(pl.col(column).is_duplicated())
    for group in numbered.partition_by(column, maintain_order=True):
        yield group.to_dicts()


def _copies(contents: FolderContents, rows: pl.DataFrame) -> Iterator[Finding]:
    """Yield schemas that stand twice, and skeletons that stand in two splits."""
    for first, *others in _shared(rows, "sha256"):
        for other in others:
            yield Finding(
                check=_NAME,
                where=_name(other),
                detail=f"the same schema as {_name(first)}",
                failure=contents.must_be_valid,
            )
    for first, *others in _shared(rows, "skeleton_sha256"):
        for other in others:
            if other["split"] != first["split"]:
                detail = f"in {other['split']}, its skeleton in {first['split']} too "
                yield Finding(
                    check=_NAME, where=_name(other), detail=detail + f"({_name(first)})"
                )


def _derived(
    contents: FolderContents, rows: Sequence[tuple[CheckUnit, RecordShingles]]
) -> Iterator[Finding]:
    """Yield where a row's split or cluster is not what its schema says."""
    by_shingles = contents.manifest is None or contents.manifest.rules != _PAPER
    names = clusters(
        [row.sha256 or "" for _, row in rows], [row.shingles or b"" for _, row in rows]
    )
    for (unit, row), cluster in zip(rows, names, strict=True):
        table = contents.tables[unit.where]
        where = f"{table.folder}/{row.unique_id}"
        own = (row.skeleton_sha256 or "")[:16]
        if by_shingles:
            own = split_key(row.shingles or b"")
        if row.split_key != own:
            basis = "shingles" if by_shingles else "skeleton"
            detail = f"split_key is not that of its {basis}, {own}"
            yield Finding(check=_NAME, where=where, detail=detail)
        elif split_of(own) != table.split:
            detail = f"in split {table.split}; its key belongs in {split_of(own)}"
            yield Finding(check=_NAME, where=where, detail=detail)
        if row.cluster != cluster:
            detail = f"cluster is not the smallest digest of its own, {cluster}"
            yield Finding(check=_NAME, where=where, detail=detail)


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    for table in contents.records():
        missing = set(_COLUMNS) - set(table.metadata.schema.to_arrow_schema().names)
        if missing:
            detail = f"no column {', '.join(sorted(missing))}"
            findings.append(Finding(check=_NAME, where=table.path, detail=detail))
    rows: list[tuple[CheckUnit, RecordShingles]] = []
    for result in results:
        if result.answered:
            rows.append((result.unit, result.answer_as(RecordShingles)))
        else:
            place = f"row {result.unit.row} of row group {result.unit.group}"
            detail = f"{place}: {result.result.ending}: {result.detail}"
            where = result.unit.where
            findings.append(Finding(check=_NAME, where=where, detail=detail))
    readable = [(unit, row) for unit, row in rows if row.shingles is not None]
    findings += _derived(contents, readable)
    columns = ("unique_id", "sha256", "skeleton_sha256")
    findings += _copies(contents, record_columns(contents, columns))
    splits: defaultdict[str | None, list[str]] = defaultdict(list)
    for unit, row in readable:
        splits[row.cluster].append(contents.tables[unit.where].split)
    return CheckResult(
        findings=findings,
        counted={
            "near-duplicate clusters": sum(len(own) > 1 for own in splits.values()),
            "test records with a cluster in train": sum(
                own.count("test") for own in splits.values() if "train" in own
            ),
        },
    )


LEAKAGE = FolderCheck(
    name=_NAME,
    question="is every split and cluster what its schema says, and no schema in two?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
