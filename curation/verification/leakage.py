"""Check splits: no schema in two, each split by its key, each cluster as computed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import split_of
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.schema.dialects import BY_NAME
from curation.schema.near_duplicates import cluster_weights, clusters
from curation.schema.shingles import shingles
from curation.schema.subschemas import skeleton
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.rows import (
    record_columns,
    row_batches,
    row_columns,
    without_columns,
)

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "leakage"
_COLUMNS = (
    *("unique_id", "json_schema", "dialect", "sha256", "split_key", "cluster"),
    "weight",
)


class RecordShingles(msgspec.Struct, frozen=True, kw_only=True):
    """Split and cluster of a row, and what they follow from."""

    unique_id: str | None
    sha256: str | None
    #: The split of its key.
    split: str
    cluster: str | None
    weight: float | None
    #: None if the schema cannot be read, which another check reports.
    shingles: bytes | None


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    return row_batches(contents, _COLUMNS)


def _work(folder: Path, item: CheckItem) -> RecordShingles:
    columns = row_columns(folder / item.where, item.group, _COLUMNS)
    row = {name: columns[name][item.row] for name in _COLUMNS}
    text = str(row.pop("json_schema") or "").encode("utf-8", "surrogatepass")
    schema, dialect = jsontext.parse(text), BY_NAME.get(str(row.pop("dialect")))
    packed = None
    if dialect is not None and not isinstance(schema, Rejected):
        packed = shingles(skeleton(schema, dialect))
    split = split_of(str(row.pop("split_key")))
    return msgspec.convert({**row, "split": split, "shingles": packed}, RecordShingles)


def _name(row: dict[str, str]) -> str:
    return f"{row['config']}/{row['unique_id']}"


def _shared(rows: pl.DataFrame, column: str) -> Iterator[list[dict[str, str]]]:
    """Yield the rows that share a digest, first the one that stands first."""
    numbered = rows.with_row_index().filter(pl.col(column).is_duplicated())
    for group in numbered.partition_by(column, maintain_order=True):
        yield group.to_dicts()


def _copies(contents: FolderContents, rows: pl.DataFrame) -> Iterator[Finding]:
    """Yield schemas that stand twice, and skeletons that stand in two splits."""
    for first, *copies in _shared(rows, "sha256"):
        for other in copies:
            yield Finding(
                check=_NAME,
                where=_name(other),
                detail=f"the same schema as {_name(first)}",
                failure=contents.must_be_valid,
            )
    for first, *copies in _shared(rows, "skeleton_sha256"):
        for other in copies:
            if other["split"] != first["split"]:
                detail = f"in {other['split']}, its skeleton in {first['split']} too "
                yield Finding(
                    check=_NAME, where=_name(other), detail=detail + f"({_name(first)})"
                )


def _derived(
    contents: FolderContents, rows: Sequence[tuple[CheckItem, RecordShingles]]
) -> Iterator[Finding]:
    """Yield the rows whose split does not follow from the key, or cluster from all."""
    names = clusters(
        [row.sha256 or "" for _, row in rows], [row.shingles or b"" for _, row in rows]
    )
    folders = [contents.tables[item.where].folder for item, _ in rows]
    weights = cluster_weights(folders, names)
    for (item, row), cluster, weight in zip(rows, names, weights, strict=True):
        table = contents.tables[item.where]
        where = f"{table.folder}/{row.unique_id}"
        if row.split != table.split:
            detail = f"in split {table.split}; its key belongs in {row.split}"
            yield Finding(check=_NAME, where=where, detail=detail)
        if row.cluster != cluster:
            detail = f"cluster is not the smallest digest of its own, {cluster}"
            yield Finding(check=_NAME, where=where, detail=detail)
        if row.weight != weight:
            detail = f"weight is {row.weight}, but {weight} by its cluster"
            yield Finding(check=_NAME, where=where, detail=detail)


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = list(without_columns(_NAME, contents, _COLUMNS))
    readable = [
        (item, row)
        for item, row in answers(_NAME, results, RecordShingles, findings)
        if row.shingles is not None
    ]
    findings += _derived(contents, readable)
    columns = ("unique_id", "sha256", "skeleton_sha256")
    findings += _copies(contents, record_columns(contents, columns))
    splits: defaultdict[str | None, list[str]] = defaultdict(list)
    for item, row in readable:
        splits[row.cluster].append(contents.tables[item.where].split)
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
    question="do splits and clusters follow from schemas, with none in two splits?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
