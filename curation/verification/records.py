"""Check every record: its schema in its own dialect, its columns, and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import holds_instances
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.references.verdicts import both_verdicts
from curation.schema.dialects import BY_NAME, Dialect, declared
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import complaint
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.columns import columns
from curation.verification.findings import Finding
from curation.verification.ledger import ledger_findings
from curation.verification.rows import facts, row_batches, row_of, without_columns

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.packaging.manifest import BuildFacts
    from curation.verification.folder_contents import FolderContents

_NAME = "rows"
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
    *("skeleton_sha256", "split_key"),
)


class RecordFaults(msgspec.Struct, frozen=True, kw_only=True):
    """The faults of one record."""

    unique_id: str | None
    #: Reasons why its schema is invalid in its own dialect.
    invalid: list[str]
    #: Faults of its text, its dialect's name and its other columns.
    wrong: list[str]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    return row_batches(contents, _COLUMNS)


def _work(folder: Path, item: CheckItem) -> RecordFaults:
    """Return the faults of one record."""
    row = row_of(folder, item, _COLUMNS)
    text = str(row["json_schema"] or "").encode("utf-8", "surrogatepass")
    schema, dialect = jsontext.parse(text), BY_NAME.get(str(row["dialect"]))
    invalid: list[str] = []
    if isinstance(schema, Rejected):
        wrong = [f"json_schema is no JSON: {schema.detail}"]
    elif dialect is None:
        wrong = [f"no such dialect: {row['dialect']!r}"]
    else:
        invalid += _invalid(schema, dialect)
        wrong = [
            *_wrong_columns(row, schema, dialect, facts(folder)),
            *_dialect_faults(row, schema, dialect),
        ]
    name = row["unique_id"]
    return RecordFaults(
        unique_id=name if isinstance(name, str) else None, invalid=invalid, wrong=wrong
    )


def _invalid(schema: Json, dialect: Dialect) -> Iterator[str]:
    reason = complaint(schema, dialect)
    if reason is not None:
        yield f"invalid under {dialect.name}: {reason}"
        return
    for verdict in both_verdicts(schema, dialect, jsontext.canonical(schema)):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _wrong_columns(
    row: Mapping[str, Json], schema: Json, dialect: Dialect, stated: BuildFacts
) -> Iterator[str]:
    """Yield the columns of a row that do not follow from its schema."""
    codes: set[str] = set()
    if any(rule.name == "lints" for rule in stated.rule_list):
        _, code = _EVIDENCE.get(row["dialect_found"], (None, ""))
        codes = {lint.code for lint in lints(schema, dialect)} | {code} - {""}
    right = columns(schema, dialect, paper=stated.rules == "paper")
    if row["json_schema"] != right.pop("json_schema"):
        yield "json_schema is not written as a build writes it"
    for name, value in {**right, "lints": sorted(codes)}.items():
        if row[name] != value:
            yield f"{name} is {row[name]}, but {value} by the schema"


def _dialect_faults(
    row: Mapping[str, Json], schema: Json, dialect: Dialect
) -> Iterator[str]:
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


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = list(without_columns(_NAME, contents, _COLUMNS))
    for item, faults in answers(_NAME, results, RecordFaults, findings):
        where = f"{item.where.partition('/')[0]}/{faults.unique_id}"
        findings += [
            Finding(
                check=_NAME, where=where, detail=detail, failure=contents.must_be_valid
            )
            for detail in faults.invalid
        ]
        findings += [
            Finding(check=_NAME, where=where, detail=detail) for detail in faults.wrong
        ]
    findings += ledger_findings(_NAME, contents)
    records = list(contents.records())
    counted = {
        "records": sum(table.rows for table in records),
        "instances": sum(
            table.rows
            for table in contents.tables.values()
            if holds_instances(table.folder)
        ),
        "configs": len({table.folder for table in records}),
        "schemas validated": len(results),
    }
    return CheckResult(findings=findings, counted=counted)


ROWS = FolderCheck(
    name=_NAME,
    question="is every schema valid, and do columns and ledger follow from it?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
