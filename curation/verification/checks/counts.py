"""Do tables, manifest, card and ledger give the same number of rows?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import DEFAULT, holds_instances, instances_folder
from curation.core.documents import KEPT
from curation.dataset.ledger import DOCUMENTS
from curation.instances.dataset.parquet import INSTANCE_LEDGER
from curation.packaging.card import FILE as CARD
from curation.packaging.manifest import FILE as MANIFEST
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "counts"
Counts = Counter[tuple[str, str]]


class CardSplit(msgspec.Struct, frozen=True, kw_only=True):
    """One split of a config in the card's `dataset_info`."""

    name: str
    num_examples: int


class CardInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One config in the card's `dataset_info`."""

    config_name: str = DEFAULT
    splits: list[CardSplit] | None = None


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=detail)


def table_counts(contents: FolderContents) -> Counts:
    """Return the rows of the tables outside the ledger, by config and split."""
    counted: Counts = Counter()
    for table in contents.tables.values():
        if table.holds_records or holds_instances(table.folder):
            counted[table.folder, table.split] += table.rows
    return counted


def _differences(
    given: Mapping[tuple[str, str], int], own: Counts, where: str, names: set[str]
) -> Iterator[Finding]:
    """Yield where another count of the configs named differs from the tables'."""
    for config, split in sorted(given.keys() | own.keys()):
        stated, found = given.get((config, split), 0), own[config, split]
        if config in names and stated != found:
            yield _finding(
                where, f"{stated:,} rows in {config}/{split}; there are {found:,}"
            )


def _stated_in_manifest(contents: FolderContents) -> Counts:
    counted: Counts = Counter()
    configs = contents.manifest.configs if contents.manifest else {}
    for config, figures in configs.items():
        splits = figures.get("splits") if isinstance(figures, dict) else None
        for split, rows in splits.items() if isinstance(splits, dict) else ():
            counted[config, split] = rows if isinstance(rows, int) else -1
    return counted


def _announced_in_card(contents: FolderContents) -> Counts:
    """Return the rows that the card's `dataset_info` announces, if it does."""
    given = contents.metadata.get("dataset_info") or []
    listed = [given] if isinstance(given, dict) else given
    counted: Counts = Counter()
    for config in msgspec.convert(listed, list[CardInfo]):
        for split in config.splits or ():
            counted[config.config_name, split.name] = split.num_examples
    return counted


def _ledger(contents: FolderContents) -> Iterator[Finding]:
    """Compare the ledger's kept documents, one by one, with the records."""
    if DOCUMENTS not in contents.tables:
        yield _finding(DOCUMENTS, "missing")
        return
    names = ["config", "split", "unique_id", "sha256"]
    kept = (
        pl.scan_parquet(contents.files[DOCUMENTS], glob=False)
        .filter(pl.col("outcome") == KEPT)
        .select(names)
        .collect()
    )
    own = record_columns(contents, ("unique_id", "sha256")).select(names)
    both = (
        (kept, own, "kept in the ledger, but no row"),
        (own, kept, "not kept in the ledger"),
    )
    for one, other, fact in both:
        lost = one.join(other, on=names, how="anti")
        for row in lost.head(_MOST).iter_rows(named=True):
            yield _finding(f"{row['config']}/{row['unique_id']}", fact)
        if len(lost) > _MOST:
            yield _finding(DOCUMENTS, f"{len(lost) - _MOST:,} more: {fact}")


#: Findings of one kind that are listed one by one.
_MOST = 20


def _table(contents: FolderContents, path: str, names: Sequence[str]) -> pl.DataFrame:
    return pl.read_parquet(contents.files[path], columns=list(names), glob=False)


def record_columns(contents: FolderContents, names: tuple[str, ...]) -> pl.DataFrame:
    """Return columns of all records, with `config` and `split` in front."""
    frames = [
        _table(contents, table.path, names).with_columns(
            config=pl.lit(table.folder), split=pl.lit(table.split)
        )
        for table in contents.records()
    ]
    empty = pl.DataFrame(schema=dict.fromkeys([*names, "config", "split"], pl.String))
    return pl.concat([empty, *frames]).select("config", "split", *names)


def _instance_counts(contents: FolderContents) -> Iterator[Finding]:
    """Compare what the ledger states of instances with their number."""
    if INSTANCE_LEDGER not in contents.tables:
        return
    stated = _table(
        contents,
        INSTANCE_LEDGER,
        ["config", "unique_id", "split", "witnesses", "near_misses"],
    )
    frames = [
        _table(contents, table.path, ["unique_id"]).with_columns(
            instances=pl.lit(table.folder), split=pl.lit(table.split)
        )
        for table in contents.tables.values()
        if holds_instances(table.folder)
    ]
    empty = pl.DataFrame(
        schema=dict.fromkeys(["unique_id", "instances", "split"], pl.String)
    )
    own = (
        pl.concat([empty, *frames])
        .group_by("instances", "split", "unique_id")
        .len("found")
    )
    stated = stated.select(
        "split",
        "unique_id",
        instances=pl.lit(instances_folder("")) + pl.col("config"),
        stated=pl.col("witnesses") + pl.col("near_misses"),
    )
    keys = ["instances", "split", "unique_id"]
    joined = stated.join(own, on=keys, how="full", coalesce=True).fill_null(0)
    wrong = joined.filter(pl.col("stated") != pl.col("found")).sort(keys)
    for row in wrong.head(_MOST).iter_rows(named=True):
        where = f"{row['instances']}/{row['unique_id']}"
        yield _finding(
            where,
            f"{row['stated']:,} instances in the ledger; there are {row['found']:,}",
        )
    if len(wrong) > _MOST:
        yield _finding(
            INSTANCE_LEDGER, f"{len(wrong) - _MOST:,} more records of which it is wrong"
        )


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    own = table_counts(contents)
    records = {table.folder for table in contents.records()}
    announced = _announced_in_card(contents)
    findings: list[Finding] = []
    if contents.manifest:
        stated = _stated_in_manifest(contents)
        names = records | {config for config, _ in stated}
        findings += _differences(stated, own, MANIFEST, names)
    names = {config for config, _ in announced} - {DEFAULT}
    findings += _differences(announced, own, CARD, names)
    findings += _ledger(contents)
    findings += _instance_counts(contents)
    counted = {
        "records": sum(rows for (config, _), rows in own.items() if config in records),
        "instances": sum(
            rows for (name, _), rows in own.items() if holds_instances(name)
        ),
        "configs": len({config for config, _ in own}),
    }
    return CheckResult(findings=findings, counted=counted)


COUNTS = FolderCheck(
    name=_NAME,
    question="do tables, manifest, card and ledger give the same number of rows?",
    judge=_judge,
)
