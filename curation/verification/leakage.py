"""Check splits: no schema in two, each split by its schema, each cluster as computed.

Digests, splits and shingles are computed of the schemas; no column is trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import split_of
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.schema.dialects import BY_NAME
from curation.schema.near_duplicates import cluster_weights, clusters
from curation.schema.shingles import shingles
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.columns import skeleton, split_key
from curation.verification.findings import Finding
from curation.verification.rows import facts, row_batches, row_of, without_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "leakage"
_COLUMNS = ("unique_id", "json_schema", "dialect", "cluster", "weight")


class RecordShingles(msgspec.Struct, frozen=True, kw_only=True):
    """Cluster of a row, and what follows from its schema."""

    unique_id: str | None
    cluster: str | None
    weight: float | None
    sha256: str
    skeleton: str
    split: str
    shingles: bytes


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    return row_batches(contents, _COLUMNS)


def _work(folder: Path, item: CheckItem) -> list[RecordShingles]:
    """Read one record; nothing if its schema cannot be read, which `rows` reports."""
    row = row_of(folder, item, _COLUMNS)
    text = str(row.pop("json_schema") or "")
    schema = jsontext.parse(text.encode("utf-8", "surrogatepass"))
    dialect = BY_NAME.get(str(row.pop("dialect")))
    if dialect is None or isinstance(schema, Rejected):
        return []
    bare = skeleton(text, dialect)
    digests = [sha256(jsontext.canonical(each)).hexdigest() for each in (schema, bare)]
    paper = facts(folder).rules == "paper"
    computed = {
        "sha256": digests[0],
        "skeleton": digests[1],
        "split": split_of(digests[1][:16] if paper else split_key(bare)),
        "shingles": shingles(bare),
    }
    return [msgspec.convert({**row, **computed}, RecordShingles)]


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = list(without_columns(_NAME, contents, _COLUMNS))
    rows = [
        (contents.tables[item.where], row)
        for item, read in answers(_NAME, results, list[RecordShingles], findings)
        for row in read
    ]
    names = clusters([row.sha256 for _, row in rows], [row.shingles for _, row in rows])
    weights = cluster_weights([table.folder for table, _ in rows], names)
    splits: defaultdict[str, list[str]] = defaultdict(list)
    firsts: dict[str, tuple[RecordShingles, str]] = {}
    skeletons: dict[str, tuple[str, str]] = {}
    for (table, row), cluster, weight in zip(rows, names, weights, strict=True):
        splits[cluster].append(table.split)
        where = f"{table.folder}/{row.unique_id}"
        first, name = firsts.setdefault(row.sha256, (row, where))
        alike, split = skeletons.setdefault(row.skeleton, (where, table.split))
        for detail, is_wrong, failure in (
            (f"the same schema as {name}", row is not first, contents.must_be_valid),
            (
                f"in {table.split}, its skeleton in {split} too ({alike})",
                table.split != split,
                True,
            ),
            (
                f"in split {table.split}; its schema belongs in {row.split}",
                table.split != row.split,
                True,
            ),
            (
                f"cluster is not the smallest digest of its own, {cluster}",
                row.cluster != cluster,
                True,
            ),
            (
                f"weight is {row.weight}, but {weight} by its cluster",
                row.weight != weight,
                True,
            ),
        ):
            if is_wrong:
                findings.append(
                    Finding(check=_NAME, where=where, detail=detail, failure=failure)
                )
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
