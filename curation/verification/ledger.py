"""Check the ledger: against itself, the manifest, the records and the instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from curation.core.benchmark import (
    CANARY,
    CONFIGS,
    INSTANCES,
    InstanceKind,
    final_config,
    is_github_config,
)
from curation.core.benchmark import LEDGER as FOLDER
from curation.core.documents import KEPT, Origin, Reason
from curation.core.rule import RepairKind
from curation.dataset.ledger import CHANGE_COLUMNS, CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import INSTANCE_LEDGER, LEDGER_COLUMNS
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import NAME, PARTIAL_NAME, Manifest
from curation.rules.sets import rule_set
from curation.system.words import counted
from curation.verification.check import FolderContents, ParquetTable

#: Number of individually listed findings of one kind.
_MAX_LISTED = 20
_KEY = ["config", "unique_id"]
#: The columns of a record that its document has too.
_SHARED = (
    *("source", "path", "commit", "licence", "collection_licence", "origin"),
    *("original_repository", "original_path", "original_revision"),
)
#: Names in the column `rule` of documents that no rule rejected: reading did, a limit
#: of size or time, or the whole benchmark.
_NO_RULES = ["parse", "limits", ""]
_IS_KEPT = pl.col("outcome") == KEPT
_NEAR_MISS = pl.col("kind") == InstanceKind.NEAR_MISS.value

#: Path or id of a contradiction, and what contradicts.
_Fault: TypeAlias = tuple[str, str]


def ledger_faults(contents: FolderContents) -> Iterator[_Fault]:
    """Yield what of the ledger, the manifest's facts or the instances contradicts."""
    tables, reports = {DOCUMENTS, CHANGES}, LEDGER_COLUMNS.keys()
    present = contents.tables.keys()
    if DOCUMENTS not in present:
        yield DOCUMENTS, "missing"
    elif contents.manifest:
        documents = pl.read_parquet(contents.files[DOCUMENTS], glob=False)
        changes = pl.DataFrame(schema=pl.Schema(CHANGE_COLUMNS))
        if CHANGES in present:  # a table without rows is not written
            changes = pl.read_parquet(contents.files[CHANGES], glob=False)
        yield from _document_faults(documents, changes, contents.manifest)
        yield from _records(contents, documents, changes, contents.manifest.rules)
    if contents.instances and INSTANCE_LEDGER in present:
        yield from _instances(contents)
    elif contents.instances or reports & present:
        yield FOLDER, "instances without their ledger, or a ledger without instances"
    for path, table in contents.tables.items():
        if table.folder == FOLDER and path not in tables | reports:
            yield path, "no table of a build's ledger"


def _read_columns(
    contents: FolderContents, tables: Iterable[ParquetTable], names: Sequence[str]
) -> pl.DataFrame:
    """Return columns of tables, with the folder and the split of each in front."""
    frames = [
        pl.read_parquet(contents.files[table.path], columns=list(names), glob=False)
        .with_columns(config=pl.lit(table.folder), split=pl.lit(table.split))
        .select("config", "split", *names)
        for table in tables
    ]
    empty = pl.DataFrame(schema=dict.fromkeys(["config", "split", *names], pl.String))
    return pl.concat(frames or [empty])


def _rows(wrong: Mapping[str, pl.DataFrame], where: str) -> Iterator[_Fault]:
    """Yield a finding for each of the first rows, by its config and id.

    Args:
        wrong: What contradicts, to the rows of which it does.
        where: The path that stands for further rows.
    """
    for detail, rows in wrong.items():
        for config, unique_id in rows.select(_KEY).head(_MAX_LISTED).iter_rows():
            yield f"{config}/{unique_id}", detail
        if len(rows) > _MAX_LISTED:
            yield where, f"{len(rows) - _MAX_LISTED:,} more: {detail}"


def _document_faults(
    documents: pl.DataFrame, changes: pl.DataFrame, facts: Manifest
) -> Iterator[_Fault]:
    """Yield contradictions of the ledger in itself, and to the manifest's facts."""
    numbers = documents["document"]
    if numbers.to_list() != list(range(len(numbers))):
        yield (DOCUMENTS, "its documents are not numbered one by one")
    if strays := len(changes.filter(~pl.col("document").is_in(numbers.implode()))):
        yield (CHANGES, counted(strays, "change") + " of no document")
    pins = pl.DataFrame(
        [(pin.source, pin.origin.value, pin.commit) for pin in facts.pins],
        schema=dict.fromkeys(("source", "origin", "commit"), pl.String),
        orient="row",
    )
    named = documents.select(
        "sha256", detail=pl.concat_str("config", "unique_id", separator="/")
    ).unique("detail")
    copies = documents.filter(outcome=Reason.DUPLICATE.value, rule="duplicates")
    copies = copies.join(named, on="detail", how="left", suffix="_first")
    outcomes = [KEPT, *(reason.value for reason in Reason)]
    rules = [*(rule.name for rule in facts.rule_list), *_NO_RULES]
    has_split, has_rule = pl.col("split") != "", pl.col("rule") != ""
    wrong = {
        "an outcome that no build writes": documents.filter(
            ~pl.col("outcome").is_in(outcomes)
        ),
        "a kept document has a split and no rule": documents.filter(
            (has_split != _IS_KEPT) | (has_rule == _IS_KEPT)
        ),
        "stands there twice": documents.filter(
            pl.struct("raw_config", "unique_id").is_duplicated()
        ),
        "is no copy of the schema that it names": copies.filter(
            pl.col("sha256").ne_missing(pl.col("sha256_first"))
        ),
        f"its rule is not in the `rule_list` of {MANIFEST}": documents.filter(
            ~pl.col("rule").is_in(rules)
        ),
        f"no pin in {MANIFEST} has its source, origin and commit": documents.join(
            pins, on=pins.columns, how="anti"
        ),
    }
    yield from _rows(
        {f"{DOCUMENTS}: {detail}": rows for detail, rows in wrong.items()}, DOCUMENTS
    )
    if not facts.partial and (documents["origin"] == Origin.SAMPLE.value).any():
        yield MANIFEST, "`partial` does not say that this is a sample"
    for name, right in (
        ("canary", CANARY),
        ("extras", sorted({*documents["config"]} - {*CONFIGS})),
        ("name", PARTIAL_NAME if facts.partial else NAME),
    ):
        value = getattr(facts, name)
        if value != right:
            yield MANIFEST, f"`{name}` is {value!r}, not {right!r}"


def _records(
    contents: FolderContents, documents: pl.DataFrame, changes: pl.DataFrame, rules: str
) -> Iterator[_Fault]:
    """Yield the records that are not, column by column, the kept documents."""
    edits = changes.group_by("document", maintain_order=True).agg(
        changes=pl.col("rule").unique(maintain_order=True)
    )
    in_ledger = (
        documents.filter(_IS_KEPT)
        .join(edits, on="document", how="left")
        .with_columns(pl.col("changes").fill_null(pl.lit([], pl.List(pl.String))))
    )
    names = ("unique_id", "sha256", *_SHARED, "changes", "repaired", "field_count")
    records = _read_columns(contents, contents.records, names)
    keys = ["config", "split", "unique_id", "sha256"]
    joined = records.join(in_ledger, on=_KEY, suffix="_in_ledger")
    selected = rule_set(rules)
    mechanical = [
        rule.name for rule in selected.rules if rule.repair is RepairKind.MECHANICAL
    ]
    repairs = pl.col("changes").list.filter(pl.element().is_in(mechanical))
    wrong = {
        "kept in the ledger, but no row": in_ledger.join(records, on=keys, how="anti"),
        "not kept in the ledger": records.join(in_ledger, on=keys, how="anti"),
        **{
            f"{name} is not that of the ledger": joined.filter(
                pl.col(name).ne_missing(pl.col(f"{name}_in_ledger"))
            )
            for name in (*_SHARED, "changes")
        },
        "repaired is not what `changes` says": records.filter(
            pl.col("repaired").ne_missing(repairs)
        ),
    }
    yield from _rows(wrong, DOCUMENTS)
    size = "raw_field_count" if selected.subset_by_raw_file else "field_count"
    columns = ("config", "unique_id", "raw_config", size)
    for config, unique_id, raw, fields in joined.select(columns).iter_rows():
        right = final_config(raw, fields or 0)
        if config != right or is_github_config(raw):
            yield f"{config}/{unique_id}", f"read for {raw}, it belongs in {right}"


def _instances(contents: FolderContents) -> Iterator[_Fault]:
    """Yield the records whose instances contradict ledger or record."""
    columns = ("unique_id", "number", "kind", "valid", "keyword")
    instances = _read_columns(contents, contents.instances, columns).with_columns(
        pl.col("config").str.strip_prefix(f"{INSTANCES}/")
    )
    kinds = [kind.value for kind in InstanceKind]
    keys = [*_KEY, "split"]
    counts = instances.group_by(keys).agg(
        made_witnesses=(~_NEAR_MISS).sum(),
        made_near_misses=_NEAR_MISS.sum(),
        misnumbered=(pl.col("number").max() + 1 != pl.len())
        | (pl.col("number").n_unique() != pl.len()),
        unknown=(~pl.col("kind").is_in(kinds)).any(),
        mislabelled=(pl.col("valid") == _NEAR_MISS).any(),
        asks=(_NEAR_MISS & (pl.col("keyword") != "type")).any(),
    )
    ledger = pl.read_parquet(contents.files[INSTANCE_LEDGER], glob=False)
    joined = ledger.join(counts, on=keys, how="full", coalesce=True).sort(keys)
    records = _read_columns(contents, contents.records, ("unique_id", "vacuous"))
    vacuous = joined.join(records.filter("vacuous"), on=keys)
    wrong = {
        f"its {name} are not as many as {INSTANCE_LEDGER} says": joined.filter(
            pl.col(name).fill_null(0).cast(pl.Int64)
            != pl.col(f"made_{name}").fill_null(0)
        )
        for name in ("witnesses", "near_misses")
    } | {
        "its instances are not numbered one by one": joined.filter("misnumbered"),
        "an instance of a kind that no build writes": joined.filter("unknown"),
        "a near miss that is valid, or a witness that is not": joined.filter(
            "mislabelled"
        ),
        "vacuous, but a near miss fails another keyword": vacuous.filter("asks"),
    }
    yield from _rows(wrong, INSTANCE_LEDGER)
