"""Check every record: its schema, its columns, its split and its cluster.

Digests, splits and shingles are computed of the schemas; no column is trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from curation.core.benchmark import assign_split
from curation.core.documents import Rejected
from curation.core.json_types import Json, UntypedJson
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.packaging.manifest import BuildFacts, read_facts
from curation.references.verdicts import both_verdicts
from curation.schema.dialects import BY_NAME, Dialect, declared
from curation.schema.near_duplicates import cluster_weights, clusters
from curation.schema.shingles import shingles
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import complaint
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    Finding,
    FolderCheck,
    FolderContents,
    folder_and_split,
    group_rows,
)
from curation.verification.columns import columns, skeleton
from curation.verification.ledger import ledger_faults

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
    for table in contents.records:
        if table.columns.issuperset(_COLUMNS):
            for group in range(table.metadata.num_row_groups):
                yield [
                    CheckItem(where=table.path, group=group, row=row)
                    for row in range(table.metadata.row_group(group).num_rows)
                ]


class _SplitRow(msgspec.Struct, frozen=True, kw_only=True):
    """Place and cluster of a row, and what follows from its schema."""

    config: str
    split: str
    unique_id: str | None
    cluster: str | None
    weight: float | None
    sha256: str
    skeleton_sha256: str
    #: The split in which it belongs.
    right_split: str
    shingles: bytes


def check_record(folder: Path, item: CheckItem) -> CheckResult:
    """Return the faults of one record, and the row that its split is judged by."""
    row = group_rows(folder / item.where, item.group, _COLUMNS)[item.row]
    text, dialect = str(row["json_schema"] or ""), BY_NAME.get(str(row["dialect"]))
    schema = jsontext.parse(text.encode("utf-8", "surrogatepass"))
    config, split = folder_and_split(item.where)
    where = f"{config}/{row['unique_id']}"
    findings: list[Finding] = []
    values: list[UntypedJson] = []
    if isinstance(schema, Rejected):
        wrong = [f"json_schema is no JSON: {schema.detail}"]
    elif dialect is None:
        wrong = [f"no such dialect: {row['dialect']!r}"]
    else:
        facts, bare = _facts(folder), skeleton(text, dialect)
        right = columns(schema, bare, dialect, paper=facts.rules == "paper")
        reason = complaint(schema, dialect)
        invalid = [f"invalid under {dialect.name}: {reason}"]
        if reason is None:
            verdicts = both_verdicts(schema, dialect, jsontext.canonical(schema))
            refusals = [verdict for verdict in verdicts if not verdict.accepts]
            invalid = [f"{dialect.name}: {verdict}" for verdict in refusals]
        findings = [
            Finding(where=where, detail=detail, failure=facts.rules == "clean")
            for detail in invalid
        ]
        wrong = list(_row_faults(facts, row, schema, dialect, right))
        computed = {
            "config": config,
            "split": split,
            "right_split": assign_split(str(right["split_key"])),
            "shingles": shingles(bare),
        }
        values = [msgspec.convert({**row, **right, **computed}, _SplitRow)]
    findings += [Finding(where=where, detail=detail) for detail in wrong]
    return CheckResult(
        findings=findings, counted={"validated schema": 1}, values=values
    )


def _row_faults(
    facts: BuildFacts, row: _Row, schema: Json, dialect: Dialect, right: _Row
) -> Iterator[str]:
    """Yield the columns of a row that do not follow from its schema or `$schema`."""
    if row["json_schema"] != right["json_schema"]:
        yield "json_schema is not written as a build writes it"
    how, words = row["dialect_found"], row["dialect_words"]
    by_words, code = _EVIDENCE.get(how, (False, ""))
    codes: set[str] = set()
    if any(rule.name == "lints" for rule in facts.rule_list):
        codes = {lint.code for lint in lints(schema, dialect)} | {code} - {""}
    for name, value in {**right, "lints": sorted(codes)}.items():
        if row[name] != value and name != "json_schema":
            yield f"{name} is {row[name]}, but {value} by the schema"
    stated = declared(schema.get("$schema") if isinstance(schema, dict) else None)
    if stated not in {None, dialect}:
        yield f"dialect is {dialect.name}, but the schema declares {stated.name}"
    if how not in _EVIDENCE or (how == "declared" and stated is None):
        yield f"dialect_found is {how!r}, unlike the schema's `$schema`"
    if by_words not in {None, bool(words)}:
        yield f"dialect_words is {words}, unlike dialect_found, {how!r}"


def judge_records(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Compare the ledger with all records, and count the folder's content."""
    records = contents.records
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
            "instance": sum(table.metadata.num_rows for table in contents.instances),
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
    names = clusters([row.sha256 for row in rows], lambda place: rows[place].shingles)
    weights = cluster_weights([row.config for row in rows], names)
    splits: defaultdict[str, list[str]] = defaultdict(list)
    schemas: dict[str, str] = {}
    skeletons: dict[str, tuple[str, str]] = {}
    for row, cluster, weight in zip(rows, names, weights, strict=True):
        splits[cluster].append(row.split)
        where = f"{row.config}/{row.unique_id}"
        if row.sha256 in schemas:
            detail = f"the same schema as {schemas[row.sha256]}"
            failure = contents.must_be_valid
            findings.append(Finding(where=where, detail=detail, failure=failure))
        schemas.setdefault(row.sha256, where)
        alike, split = skeletons.setdefault(row.skeleton_sha256, (where, row.split))
        faults = {
            f"in {row.split}, its skeleton in {split} too ({alike})": (
                row.split != split
            ),
            f"in split {row.split}; its schema belongs in {row.right_split}": (
                row.split != row.right_split
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
