"""Compare the ledger with itself, rows, manifest and instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import (
    CANARY,
    CONFIGS,
    final_config,
    holds_instances,
    is_github_config,
    records_config,
)
from curation.core.benchmark import LEDGER as FOLDER
from curation.core.documents import KEPT, Origin, Reason
from curation.core.rule import RepairKind
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.dataset.summary import NAME, PARTIAL_NAME
from curation.instances.dataset.parquet import INSTANCE_LEDGER, LEDGER_COLUMNS
from curation.instances.values.model import InstanceKind
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import Manifest
from curation.rules.sets import rule_set
from curation.system.words import counted
from curation.verification.findings import Finding
from curation.verification.rows import read_columns, record_columns

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

#: Findings of one kind that are listed one by one.
_MOST = 20
_KEY = ["config", "unique_id"]
#: The columns of a record that its document has too.
_SHARED = ("source", "path", "commit", "licence", "original_repository", "origin")
#: Names in the column `rule` of documents that no rule rejected: reading did, a limit
#: of size or time, or the whole benchmark.
_NO_RULES = ["parse", "limits", ""]


#: Where something contradicts, and what.
_Fault = tuple[str, str]


def _rows(frame: pl.DataFrame, where: str, detail: str) -> Iterator[_Fault]:
    """Yield a finding for each of the first rows, by its config and id."""
    for config, unique_id in frame.select(_KEY).head(_MOST).iter_rows():
        yield (f"{config}/{unique_id}", detail)
    if len(frame) > _MOST:
        yield (where, f"{len(frame) - _MOST:,} more: {detail}")


def _documents(
    documents: pl.DataFrame, changes: pl.DataFrame, facts: Manifest
) -> Iterator[_Fault]:
    """Yield contradictions of the ledger in itself, and to the manifest."""
    numbers = documents["document"]
    if numbers.to_list() != list(range(len(numbers))):
        yield (DOCUMENTS, "its documents are not numbered one by one")
    if strays := len(changes.filter(~pl.col("document").is_in(numbers.implode()))):
        yield (CHANGES, counted(strays, "change") + " of no document")
    is_kept = pl.col("outcome") == KEPT
    rules = [*(rule.name for rule in facts.rule_list), *_NO_RULES]
    pins = pl.DataFrame(
        [(pin.source, pin.origin.value, pin.commit) for pin in facts.pins],
        schema=dict.fromkeys(("source", "origin", "commit"), pl.String),
        orient="row",
    )
    firsts = documents.select(
        "sha256", name=pl.concat_str("config", "unique_id", separator="/")
    ).unique("name")
    copies = documents.filter(
        pl.col("outcome") == Reason.DUPLICATE.value, pl.col("rule") == "duplicates"
    ).join(firsts, left_on="detail", right_on="name", how="left", suffix="_first")
    for wrong, detail in (
        (
            documents.filter(
                ~pl.col("outcome").is_in([KEPT, *(each.value for each in Reason)])
            ),
            "an outcome that no build writes",
        ),
        (
            documents.filter(
                (is_kept != (pl.col("split") != ""))
                | (is_kept != (pl.col("rule") == ""))
            ),
            "a kept document has a split and no rule",
        ),
        (
            documents.filter(pl.struct("raw_config", "unique_id").is_duplicated()),
            "stands there twice",
        ),
        (
            copies.filter(pl.col("sha256").ne_missing(pl.col("sha256_first"))),
            "is no copy of the schema that it names",
        ),
        (
            documents.filter(~pl.col("rule").is_in(rules)),
            f"its rule is not in the `rule_list` of {MANIFEST}",
        ),
        (
            documents.join(pins, on=pins.columns, how="anti"),
            f"no pin in {MANIFEST} has its source, origin and commit",
        ),
    ):
        yield from _rows(wrong, DOCUMENTS, f"{DOCUMENTS}: {detail}")
    if not facts.partial and (documents["origin"] == Origin.SAMPLE.value).any():
        yield (MANIFEST, "`partial` does not say that this is a sample")
    extras = sorted({*documents["config"]} - {*CONFIGS})
    if facts.canary != CANARY:
        yield MANIFEST, "the canary is not that of the benchmark"
    if facts.extras != extras:
        yield (MANIFEST, f"`extras` is {facts.extras}, not {extras}")
    name = PARTIAL_NAME if facts.partial else NAME
    if facts.name != name:
        yield (MANIFEST, f"`name` is {facts.name!r}; it is {name!r} by `partial`")


def _records(
    contents: FolderContents, documents: pl.DataFrame, changes: pl.DataFrame, rules: str
) -> Iterator[_Fault]:
    """Yield the records that are not, column by column, the kept documents."""
    edits = changes.group_by("document", maintain_order=True).agg(
        changes=pl.col("rule").unique(maintain_order=True)
    )
    in_ledger = (
        documents.filter(pl.col("outcome") == KEPT)
        .join(edits, on="document", how="left")
        .with_columns(pl.col("changes").fill_null(pl.lit([], pl.List(pl.String))))
    )
    records = record_columns(
        contents,
        (*("unique_id", "sha256", *_SHARED, "changes", "repaired"), "field_count"),
    )
    keys = ["config", "split", "unique_id", "sha256"]
    for one, other, detail in (
        (in_ledger, records, "kept in the ledger, but no row"),
        (records, in_ledger, "not kept in the ledger"),
    ):
        yield from _rows(one.join(other, on=keys, how="anti"), DOCUMENTS, detail)
    both = records.join(in_ledger, on=_KEY, suffix="_in_ledger")
    for name in (*_SHARED, "changes"):
        wrong = both.filter(pl.col(name).ne_missing(pl.col(f"{name}_in_ledger")))
        yield from _rows(wrong, DOCUMENTS, f"{name} is not that of the ledger")
    mechanical = [
        rule.name
        for rule in rule_set(rules).rules
        if rule.repair is RepairKind.MECHANICAL
    ]
    repairs = pl.col("changes").list.filter(pl.element().is_in(mechanical))
    wrong = records.filter(pl.col("repaired").ne_missing(repairs))
    yield from _rows(wrong, DOCUMENTS, "repaired is not what `changes` says")
    yield from _misplaced(both, by_raw_file=rule_set(rules).subset_by_raw_file)


def _misplaced(both: pl.DataFrame, *, by_raw_file: bool) -> Iterator[_Fault]:
    """Yield each record in another config than its document and size say.

    Args:
        both: Records, with the columns of their documents.
        by_raw_file: Whether the raw file's size decides, and not the record's.
    """
    size = "raw_field_count" if by_raw_file else "field_count"
    columns = ("config", "unique_id", "raw_config", size)
    for config, unique_id, raw, fields in both.select(columns).iter_rows():
        right = final_config(raw, fields or 0)
        if config != right or is_github_config(raw):
            detail = f"read for {raw}, it belongs in {right}"
            yield (f"{config}/{unique_id}", detail)


def _instances(contents: FolderContents) -> Iterator[_Fault]:
    """Yield the records whose instances are not as many as the ledger says."""
    columns = ("unique_id", "number", "kind", "valid")
    frames = [
        read_columns(contents, table, columns).with_columns(
            config=pl.lit(records_config(table.folder)), split=pl.lit(table.split)
        )
        for table in contents.tables.values()
        if holds_instances(table.folder)
    ]
    near_miss = pl.col("kind") == InstanceKind.NEAR_MISS.value
    kinds = [kind.value for kind in InstanceKind]
    keys = [*_KEY, "split"]
    own = (
        pl.concat(frames)
        .group_by(keys)
        .agg(
            found_witnesses=(~near_miss).sum(),
            found_near_misses=near_miss.sum(),
            misnumbered=(pl.col("number").max() + 1 != pl.len())
            | (pl.col("number").n_unique() != pl.len()),
            unknown=(~pl.col("kind").is_in(kinds)).any(),
            mislabelled=(pl.col("valid") == near_miss).any(),
        )
    )
    ledger = pl.read_parquet(contents.files[INSTANCE_LEDGER], glob=False)
    both = ledger.join(own, on=keys, how="full", coalesce=True).sort(keys)
    for name in ("witnesses", "near_misses"):
        number = pl.col(f"found_{name}").fill_null(0)
        wrong = both.filter(pl.col(name).fill_null(0).cast(pl.Int64) != number)
        detail = f"its {name} are not as many as {INSTANCE_LEDGER} says"
        yield from _rows(wrong, INSTANCE_LEDGER, detail)
    for fault, detail in (
        ("misnumbered", "its instances are not numbered one by one"),
        ("unknown", "an instance of a kind that no build writes"),
        ("mislabelled", "a near miss that is valid, or a witness that is not"),
    ):
        yield from _rows(both.filter(pl.col(fault)), INSTANCE_LEDGER, detail)


def ledger_findings(check: str, contents: FolderContents) -> Iterator[Finding]:
    """Yield what of the ledger, the manifest's facts or the instances contradicts.

    Args:
        check: The name of the check whose findings they are.
        contents: The folder.
    """
    for where, detail in _contradictions(contents):
        yield Finding(check=check, where=where, detail=detail)


def _contradictions(contents: FolderContents) -> Iterator[_Fault]:
    tables = {DOCUMENTS, CHANGES}
    for path in sorted(tables - contents.tables.keys()):
        yield path, "missing"
    if contents.manifest and tables <= contents.tables.keys():
        documents = pl.read_parquet(contents.files[DOCUMENTS], glob=False)
        changes = pl.read_parquet(
            contents.files[CHANGES], columns=["document", "rule"], glob=False
        )
        yield from _documents(documents, changes, contents.manifest)
        yield from _records(contents, documents, changes, contents.manifest.rules)
    has_instances = any(
        holds_instances(table.folder) for table in contents.tables.values()
    )
    reports = LEDGER_COLUMNS.keys() & contents.tables.keys()
    if has_instances and reports == LEDGER_COLUMNS.keys():
        yield from _instances(contents)
    elif has_instances or reports:
        yield FOLDER, "instances without their ledger, or a ledger without instances"
    for path, table in contents.tables.items():
        if table.folder == FOLDER and path not in tables | LEDGER_COLUMNS.keys():
            yield path, "no table of a build's ledger"
