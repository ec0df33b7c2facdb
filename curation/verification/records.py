"""Check every record: its schema, its columns, its split and its cluster.

The ledger is compared with itself, rows, manifest and instances.

Digests, splits and shingles are computed of the schemas; no column is trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import msgspec
import polars as pl

from curation.core.benchmark import (
    CANARY,
    CONFIGS,
    INSTANCES,
    InstanceKind,
    final_config,
    holds_instances,
    is_github_config,
    split_of,
)
from curation.core.benchmark import LEDGER as FOLDER
from curation.core.documents import KEPT, Origin, Reason, Rejected
from curation.core.json_types import Json, UntypedJson
from curation.core.rule import RepairKind
from curation.dataset.ledger import CHANGE_COLUMNS, CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import INSTANCE_LEDGER, LEDGER_COLUMNS
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import (
    NAME,
    PARTIAL_NAME,
    BuildFacts,
    Manifest,
    read_facts,
)
from curation.references.verdicts import both_verdicts
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME, Dialect, declared
from curation.schema.near_duplicates import cluster_weights, clusters
from curation.schema.shingles import shingles
from curation.system.words import counted
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import complaint
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    Finding,
    FolderCheck,
    FolderContents,
    ParquetTable,
    group_rows,
)
from curation.verification.columns import columns, skeleton

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
        yield from _manifest_faults(documents, contents.manifest)
        yield from _records(contents, documents, changes, contents.manifest.rules)
    has_instances = any(
        holds_instances(table.folder) for table in contents.tables.values()
    )
    if has_instances and INSTANCE_LEDGER in present:
        yield from _instances(contents)
    elif has_instances or reports & present:
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
    none = pl.DataFrame(schema=dict.fromkeys(["config", "split", *names], pl.String))
    return pl.concat(frames or [none])


def _rows(frame: pl.DataFrame, where: str, detail: str) -> Iterator[_Fault]:
    """Yield a finding for each of the first rows, by its config and id."""
    for config, unique_id in frame.select(_KEY).head(_MAX_LISTED).iter_rows():
        yield (f"{config}/{unique_id}", detail)
    if len(frame) > _MAX_LISTED:
        yield (where, f"{len(frame) - _MAX_LISTED:,} more: {detail}")


def _document_faults(
    documents: pl.DataFrame, changes: pl.DataFrame, facts: Manifest
) -> Iterator[_Fault]:
    """Yield contradictions of the ledger in itself, and to rules and pins."""
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
    for wrong, detail in (
        (
            documents.filter(~pl.col("outcome").is_in(outcomes)),
            "an outcome that no build writes",
        ),
        (
            documents.filter((has_split != _IS_KEPT) | (has_rule == _IS_KEPT)),
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


def _manifest_faults(documents: pl.DataFrame, facts: Manifest) -> Iterator[_Fault]:
    """Yield contradictions of the manifest's facts to the ledger."""
    if not facts.partial and (documents["origin"] == Origin.SAMPLE.value).any():
        yield (MANIFEST, "`partial` does not say that this is a sample")
    for name, right in (
        ("canary", CANARY),
        ("extras", sorted({*documents["config"]} - {*CONFIGS})),
        ("name", PARTIAL_NAME if facts.partial else NAME),
    ):
        stated = getattr(facts, name)
        if stated != right:
            yield (MANIFEST, f"`{name}` is {stated!r}, not {right!r}")


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
    records = _read_columns(contents, contents.records(), names)
    keys = ["config", "split", "unique_id", "sha256"]
    gone = in_ledger.join(records, on=keys, how="anti")
    yield from _rows(gone, DOCUMENTS, "kept in the ledger, but no row")
    strays = records.join(in_ledger, on=keys, how="anti")
    yield from _rows(strays, DOCUMENTS, "not kept in the ledger")
    joined = records.join(in_ledger, on=_KEY, suffix="_in_ledger")
    for name in (*_SHARED, "changes"):
        wrong = joined.filter(pl.col(name).ne_missing(pl.col(f"{name}_in_ledger")))
        yield from _rows(wrong, DOCUMENTS, f"{name} is not that of the ledger")
    chosen = rule_set(rules)
    mechanical = [
        rule.name for rule in chosen.rules if rule.repair is RepairKind.MECHANICAL
    ]
    repairs = pl.col("changes").list.filter(pl.element().is_in(mechanical))
    wrong = records.filter(pl.col("repaired").ne_missing(repairs))
    yield from _rows(wrong, DOCUMENTS, "repaired is not what `changes` says")
    size = "raw_field_count" if chosen.subset_by_raw_file else "field_count"
    columns = ("config", "unique_id", "raw_config", size)
    for config, unique_id, raw, fields in joined.select(columns).iter_rows():
        right = final_config(raw, fields or 0)
        if config != right or is_github_config(raw):
            yield f"{config}/{unique_id}", f"read for {raw}, it belongs in {right}"


def _instances(contents: FolderContents) -> Iterator[_Fault]:
    """Yield the records whose instances contradict ledger or record."""
    tables = [
        table for table in contents.tables.values() if holds_instances(table.folder)
    ]
    columns = ("unique_id", "number", "kind", "valid", "keyword")
    instances = _read_columns(contents, tables, columns).with_columns(
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
    records = _read_columns(contents, contents.records(), ("unique_id", "vacuous"))
    vacuous = joined.join(records.filter("vacuous"), on=keys)
    for wrong, detail in (
        *(
            (
                joined.filter(
                    pl.col(name).fill_null(0).cast(pl.Int64)
                    != pl.col(f"made_{name}").fill_null(0)
                ),
                f"its {name} are not as many as {INSTANCE_LEDGER} says",
            )
            for name in ("witnesses", "near_misses")
        ),
        (joined.filter("misnumbered"), "its instances are not numbered one by one"),
        (joined.filter("unknown"), "an instance of a kind that no build writes"),
        (
            joined.filter("mislabelled"),
            "a near miss that is valid, or a witness that is not",
        ),
        (vacuous.filter("asks"), "vacuous, but a near miss fails another keyword"),
    ):
        yield from _rows(wrong, INSTANCE_LEDGER, detail)


_Row = Mapping[str, UntypedJson]

#: What decided a dialect: whether words did (None: they may have), and the lint of it.
_EVIDENCE: dict[object, tuple[bool | None, str]] = {
    **dict.fromkeys(("assumed", "declared", "repaired", "upgraded"), (False, "")),
    "fitting": (False, "other-draft"),
    "mixed": (True, MIXED_DRAFTS),
    "prior": (None, ""),
    "words": (True, ""),
}
_COLUMNS = (
    *("unique_id", "json_schema", "dialect", "dialect_found", "dialect_words"),
    *("field_count", "max_fan_out", "depth", "size", "live", "live_size"),
    *("vacuous", "features", "formats", "lints", "valid_under", "sha256"),
    *("skeleton_sha256", "split_key", "cluster", "weight"),
)
#: The facts of a folder's manifest, which a child reads once.
_facts = cache(read_facts)


def row_batches(contents: FolderContents) -> Iterator[CheckBatch]:
    """Yield a batch for each row group of records, with an item for each row.

    A table that lacks a column is left out; `judge_records` names it.
    """
    for table in contents.records():
        if table.columns.issuperset(_COLUMNS):
            for group in range(table.metadata.num_row_groups):
                yield [
                    CheckItem(where=table.path, group=group, row=row)
                    for row in range(table.metadata.row_group(group).num_rows)
                ]


class _SplitRow(msgspec.Struct, frozen=True, kw_only=True):
    """Cluster of a row, and what follows from its schema."""

    #: Its table's path.
    path: str
    unique_id: str | None
    cluster: str | None
    weight: float | None
    sha256: str
    skeleton_sha256: str
    split: str
    shingles: bytes


def check_record(folder: Path, item: CheckItem) -> CheckResult:
    """Return the faults of one record, and the row that its split is judged by."""
    row = group_rows(folder / item.where, item.group, _COLUMNS)[item.row]
    text, dialect = str(row["json_schema"] or ""), BY_NAME.get(str(row["dialect"]))
    schema = jsontext.parse(text.encode("utf-8", "surrogatepass"))
    where = f"{item.where.partition('/')[0]}/{row['unique_id']}"
    findings: list[Finding] = []
    values: list[UntypedJson] = []
    if isinstance(schema, Rejected):
        wrong = [f"json_schema is no JSON: {schema.detail}"]
    elif dialect is None:
        wrong = [f"no such dialect: {row['dialect']!r}"]
    else:
        facts, bare = _facts(folder), skeleton(text, dialect)
        right = columns(schema, bare, dialect, paper=facts.rules == "paper")
        findings = [
            Finding(where=where, detail=detail, failure=facts.rules == "clean")
            for detail in _validity_faults(schema, dialect)
        ]
        wrong = [
            *_column_faults(facts, row, schema, dialect, right),
            *_dialect_faults(row, schema, dialect),
        ]
        computed = {
            "path": item.where,
            "split": split_of(str(right["split_key"])),
            "shingles": shingles(bare),
        }
        values = [msgspec.convert({**row, **right, **computed}, _SplitRow)]
    findings += [Finding(where=where, detail=detail) for detail in wrong]
    return CheckResult(
        findings=findings, counted={"validated schema": 1}, values=values
    )


def _validity_faults(schema: Json, dialect: Dialect) -> Iterator[str]:
    reason = complaint(schema, dialect)
    if reason is not None:
        yield f"invalid under {dialect.name}: {reason}"
        return
    for verdict in both_verdicts(schema, dialect, jsontext.canonical(schema)):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _column_faults(
    facts: BuildFacts, row: _Row, schema: Json, dialect: Dialect, right: _Row
) -> Iterator[str]:
    """Yield the columns of a row that do not follow from its schema."""
    if row["json_schema"] != right["json_schema"]:
        yield "json_schema is not written as a build writes it"
    codes: set[str] = set()
    if any(rule.name == "lints" for rule in facts.rule_list):
        _, code = _EVIDENCE.get(row["dialect_found"], (None, ""))
        codes = {lint.code for lint in lints(schema, dialect)} | {code} - {""}
    for name, value in {**right, "lints": sorted(codes)}.items():
        if row[name] != value and name != "json_schema":
            yield f"{name} is {row[name]}, but {value} by the schema"


def _dialect_faults(row: _Row, schema: Json, dialect: Dialect) -> Iterator[str]:
    """Yield contradictions of `dialect` and `dialect_found` to `$schema`."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    stated, how, words = declared(uri), row["dialect_found"], row["dialect_words"]
    if stated not in {None, dialect}:
        yield f"dialect is {dialect.name}, but the schema declares {stated.name}"
    if how not in _EVIDENCE or (how == "declared" and stated is None):
        yield f"dialect_found is {how!r}, unlike the schema's `$schema`"
    by_words, _ = _EVIDENCE.get(how, (False, ""))
    if by_words not in {None, bool(words)}:
        yield f"dialect_words is {words}, unlike dialect_found, {how!r}"


def judge_records(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Compare the ledger with all records, and count the folder's content."""
    records = list(contents.records())
    return CheckResult(
        findings=[
            *(
                Finding(where=table.path, detail=f"no column {', '.join(missing)}")
                for table in records
                if (missing := sorted(set(_COLUMNS) - table.columns))
            ),
            *result.findings,
            *(
                Finding(where=where, detail=detail)
                for where, detail in ledger_faults(contents)
            ),
        ],
        counted={
            "record": sum(table.metadata.num_rows for table in records),
            "instance": sum(
                table.metadata.num_rows
                for table in contents.tables.values()
                if holds_instances(table.folder)
            ),
            "config": len({table.folder for table in records}),
            **result.counted,
        },
    )


ROWS = FolderCheck(
    name="rows",
    question="is every schema valid, and do columns and ledger follow from it?",
    batches=row_batches,
    work=check_record,
    judge=judge_records,
)


def judge_splits(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Compare the splits and clusters of all records."""
    findings = []
    rows = msgspec.convert(result.values, list[_SplitRow])
    tables = [contents.tables[row.path] for row in rows]
    names = clusters([row.sha256 for row in rows], lambda place: rows[place].shingles)
    weights = cluster_weights([table.folder for table in tables], names)
    splits: defaultdict[str, list[str]] = defaultdict(list)
    firsts: dict[str, tuple[_SplitRow, str]] = {}
    skeletons: dict[str, tuple[str, str]] = {}
    for table, row, cluster, weight in zip(tables, rows, names, weights, strict=True):
        splits[cluster].append(table.split)
        where = f"{table.folder}/{row.unique_id}"
        first, name = firsts.setdefault(row.sha256, (row, where))
        alike, split = skeletons.setdefault(row.skeleton_sha256, (where, table.split))
        if row is not first:
            detail, failure = f"the same schema as {name}", contents.must_be_valid
            findings.append(Finding(where=where, detail=detail, failure=failure))
        faults = {
            f"in {table.split}, its skeleton in {split} too ({alike})": (
                table.split != split
            ),
            f"in split {table.split}; its schema belongs in {row.split}": (
                table.split != row.split
            ),
            f"cluster is not the smallest digest of its own, {cluster}": (
                row.cluster != cluster
            ),
            f"weight is {row.weight}, but {weight} by its cluster": (
                row.weight != weight
            ),
        }
        findings += [
            Finding(where=where, detail=detail)
            for detail, is_fault in faults.items()
            if is_fault
        ]
    in_train = [members for members in splits.values() if "train" in members]
    return CheckResult(
        findings=findings,
        counted={
            "near-duplicate cluster": sum(
                len(members) > 1 for members in splits.values()
            ),
            "test record with a cluster in train": sum(
                members.count("test") for members in in_train
            ),
        },
    )


LEAKAGE = FolderCheck(
    name="leakage",
    question="do splits and clusters follow from schemas, with none in two splits?",
    # Those of `rows`: a child reads a record once for both checks.
    batches=row_batches,
    work=check_record,
    judge=judge_splits,
)
