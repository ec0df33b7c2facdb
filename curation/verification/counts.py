"""Check rows: their numbers, and the ids of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import DEFAULT, holds_instances, natural_key
from curation.packaging.card import FILE as CARD
from curation.packaging.manifest import FILE as MANIFEST
from curation.verification.check import CheckResult, FolderCheck, ItemResult
from curation.verification.findings import Finding
from curation.verification.rows import record_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_Counts = Counter[tuple[str, str]]


class CardSplit(msgspec.Struct, frozen=True, kw_only=True):
    """One split of a config in the card's `dataset_info`."""

    name: str
    num_examples: int


class CardInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One config in the card's `dataset_info`."""

    config_name: str = DEFAULT
    splits: list[CardSplit] | None = None


def _differences(
    announced: Mapping[tuple[str, str], int], own: _Counts, where: str, names: set[str]
) -> Iterator[Finding]:
    """Yield the splits of some configs whose stated number of rows is wrong."""
    for config, split in sorted(announced.keys() | own.keys()):
        number, rows = announced.get((config, split), 0), own[config, split]
        if config in names and number != rows:
            detail = f"{number:,} rows in {config}/{split}; there are {rows:,}"
            yield Finding(check="counts", where=where, detail=detail)


def _announced_in_card(contents: FolderContents) -> _Counts:
    """Return the rows that the card's `dataset_info` announces."""
    info = contents.metadata.get("dataset_info") or []
    counted: _Counts = Counter()
    for config in msgspec.convert(
        [info] if isinstance(info, dict) else info, list[CardInfo]
    ):
        for split in config.splits or ():
            counted[config.config_name, split.name] = split.num_examples
    return counted


def _judge_counts(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    own: _Counts = Counter()
    for table in contents.tables.values():
        if table.holds_records or holds_instances(table.folder):
            own[table.folder, table.split] += table.rows
    records = {table.folder for table in contents.records()}
    announced = _announced_in_card(contents)
    findings: list[Finding] = []
    if contents.manifest:
        manifest_rows = {
            (config, split): rows
            for config, figures in contents.manifest.configs.items()
            for split, rows in figures.splits.items()
        }
        names = records | {config for config, _ in manifest_rows}
        findings += _differences(manifest_rows, own, MANIFEST, names)
    names = {config for config, _ in announced} - {DEFAULT}
    findings += _differences(announced, own, CARD, names)
    counted = {
        "records": sum(rows for (config, _), rows in own.items() if config in records),
        "instances": sum(
            rows for (name, _), rows in own.items() if holds_instances(name)
        ),
        "configs": len({config for config, _ in own}),
    }
    return CheckResult(findings=findings, counted=counted)


COUNTS = FolderCheck(
    name="counts",
    question="do tables, manifest and card give the same number of rows?",
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
