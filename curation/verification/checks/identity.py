"""Has every record an id that no other record of its config has, in natural order?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import natural_key
from curation.verification.checks.counts import record_columns
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "ids"


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    rows = record_columns(contents, ("unique_id",))
    nameless = rows.filter(pl.col("unique_id").fill_null("") == "")
    again = (
        rows.group_by("config", "unique_id")
        .agg("split", pl.len())
        .filter(pl.col("len") > 1)
        .sort("config", "unique_id")
    )
    findings = [
        Finding(check=_NAME, where=f"{config}/{split}", detail="a record without an id")
        for config, split, _ in nameless.iter_rows()
    ]
    findings += [
        Finding(
            check=_NAME,
            where=f"{row['config']}/{row['unique_id']}",
            detail=f"{row['len']} records have this id ({', '.join(row['split'])})",
        )
        for row in again.iter_rows(named=True)
    ]
    findings += [
        Finding(check=_NAME, where=table.path, detail="not in natural order of the ids")
        for table in contents.records()
        if not _is_sorted(rows, table.folder, table.split)
    ]
    return CheckResult(findings=findings)


def _is_sorted(rows: pl.DataFrame, config: str, split: str) -> bool:
    chosen = rows.filter(config=config, split=split)
    ids = [natural_key(name or "") for name in chosen["unique_id"]]
    return ids == sorted(ids)


IDENTITY = FolderCheck(
    name=_NAME,
    question="is every id unique within its config, and in its place?",
    judge=_judge,
)
