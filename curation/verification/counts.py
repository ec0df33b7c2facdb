"""Check rows: their numbers, and the ids of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import holds_instances, natural_key
from curation.packaging.manifest import FILE as MANIFEST
from curation.system.words import counted
from curation.verification.check import CheckResult, FolderCheck, ItemResult
from curation.verification.findings import Finding
from curation.verification.rows import record_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_Counts = Counter[tuple[str, str]]


def _judge_counts(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    own: _Counts = Counter()
    for table in contents.tables.values():
        if table.holds_records or holds_instances(table.folder):
            own[table.folder, table.split] += table.rows
    records = {table.folder for table in contents.records()}
    findings: list[Finding] = []
    if contents.manifest:
        manifest_rows = {
            (config, split): rows
            for config, figures in contents.manifest.configs.items()
            for split, rows in figures.splits.items()
        }
        for config, split in sorted(manifest_rows.keys() | own.keys()):
            number, rows = manifest_rows.get((config, split), 0), own[config, split]
            if number != rows and not holds_instances(config):
                detail = (
                    f"{counted(number, 'row')} in {config}/{split}; really {rows:,}"
                )
                findings.append(Finding(check="counts", where=MANIFEST, detail=detail))
    by_table = {
        "records": sum(rows for (config, _), rows in own.items() if config in records),
        "instances": sum(
            rows for (name, _), rows in own.items() if holds_instances(name)
        ),
        "configs": len({config for config, _ in own}),
    }
    return CheckResult(findings=findings, counted=by_table)


COUNTS = FolderCheck(
    name="counts",
    question="do the tables and the manifest give the same number of rows?",
    judge=_judge_counts,
)


def _judge_ids(contents: FolderContents, _results: Sequence[ItemResult]) -> CheckResult:
    rows = record_columns(contents, ("unique_id",))
    nameless = rows.filter(pl.col("unique_id").fill_null("") == "")
    again = (
        rows.group_by("config", "unique_id")
        .agg("split", pl.len())
        .filter(pl.col("len") > 1)
        .sort("config", "unique_id")
    )
    findings = [
        Finding(check="ids", where=f"{config}/{split}", detail="a record without an id")
        for config, split, _ in nameless.iter_rows()
    ]
    findings += [
        Finding(
            check="ids",
            where=f"{row['config']}/{row['unique_id']}",
            detail=f"{row['len']} records have this id ({', '.join(row['split'])})",
        )
        for row in again.iter_rows(named=True)
    ]
    for table in contents.records():
        own = rows.filter(config=table.folder, split=table.split)
        keys = [natural_key(name or "") for name in own["unique_id"]]
        if keys != sorted(keys):
            detail = "not in natural order of the ids"
            findings.append(Finding(check="ids", where=table.path, detail=detail))
    return CheckResult(findings=findings)


IDENTITY = FolderCheck(
    name="ids",
    question="is every id unique within its config, and in its place?",
    judge=_judge_ids,
)
