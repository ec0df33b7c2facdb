"""Check every record: its schema in its own dialect, its columns, and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import holds_instances
from curation.core.documents import NOWHERE, Document, Lint, Rejected
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.packaging.manifest import BuildFacts, read_facts
from curation.pipeline.process_document import make_record
from curation.schema.dialects import BY_NAME, Dialect, declared
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import complaint
from curation.validation.verdicts import both_verdicts
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.ledger import ledger_findings
from curation.verification.rows import row_batches, row_columns, without_columns

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.verification.folder_contents import FolderContents

_NAME = "rows"
#: The columns that follow from the text and the dialect.
_DERIVED = (
    *("field_count", "max_fan_out", "depth", "size", "live", "live_size"),
    *("vacuous", "features", "formats", "lints", "valid_under", "sha256"),
    *("skeleton_sha256", "split_key"),
)
#: The lint that says how the dialect was found.
_LINT_OF_DIALECT = {
    "mixed": MIXED_DRAFTS,
    "fitting": "other-draft",
}
_EVIDENCE = frozenset(
    {
        *("assumed", "declared", "fitting", "mixed", "prior", "repaired", "upgraded"),
        "words",
    }
)
#: Evidence that comes with words, and evidence that may.
_BY_WORDS = frozenset({"mixed", "words"})
_MAY_HAVE_WORDS = _BY_WORDS | {"prior"}
#: The rule set whose splits follow from the skeleton's digest.
_PAPER = "paper"
#: The rule that flags defects.
_LINTS = "lints"
_COLUMNS = (
    *("unique_id", "json_schema", "dialect", "dialect_found", "dialect_words"),
    *_DERIVED,
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
    rows = row_columns(folder / item.where, item.group, _COLUMNS)
    row = {name: rows[name][item.row] for name in _COLUMNS}
    invalid: list[str] = []
    wrong: list[str] = []
    schema = jsontext.parse(
        str(row["json_schema"] or "").encode("utf-8", "surrogatepass")
    )
    dialect = BY_NAME.get(str(row["dialect"]))
    if isinstance(schema, Rejected):
        wrong.append(f"json_schema is no JSON: {schema.detail}")
    elif dialect is None:
        wrong.append(f"no such dialect: {row['dialect']!r}")
    else:
        text = jsontext.canonical(schema)
        invalid += _invalid(schema, dialect, text)
        wrong += _wrong_columns(row, schema, _facts(folder))
        wrong += _dialect_faults(row, schema, dialect)
    name = row["unique_id"]
    return RecordFaults(
        unique_id=name if isinstance(name, str) else None, invalid=invalid, wrong=wrong
    )


@cache
def _facts(folder: Path) -> BuildFacts:
    return read_facts(folder)


def _invalid(schema: Json, dialect: Dialect, text: bytes) -> Iterator[str]:
    reason = complaint(schema, dialect)
    if reason is not None:
        yield f"invalid under {dialect.name}: {reason}"
        return
    for verdict in both_verdicts(schema, dialect, text):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _wrong_columns(
    row: Mapping[str, Json], schema: Json, facts: BuildFacts
) -> Iterator[str]:
    """Yield the columns of a row that are others when the record is made again."""
    dialect, how = str(row["dialect"]), str(row["dialect_found"])
    flagged: list[Lint] = []
    if any(rule.name == _LINTS for rule in facts.rule_list):
        flagged = lints(schema, BY_NAME[dialect])
        if how in _LINT_OF_DIALECT:
            flagged.append(Lint(code=_LINT_OF_DIALECT[how], pointer=""))
    document = Document(
        config="",
        unique_id="",
        provenance=NOWHERE,
        schema=schema,
        dialect=dialect,
        dialect_found=how,
        lints=tuple(flagged),
    )
    by_shingles = facts.rules != _PAPER
    record = make_record(document, split_by_shingles=by_shingles).record
    if record.json_schema != row["json_schema"]:
        yield "json_schema is not written as a build writes it"
    for name in _DERIVED:
        right = getattr(record, name)
        right = list(right) if isinstance(right, tuple) else right
        if row[name] != right:
            yield f"{name} is {row[name]}, but {right} by the schema"


def _dialect_faults(
    row: Mapping[str, Json], schema: Json, dialect: Dialect
) -> Iterator[str]:
    """Yield contradictions of `dialect` and `dialect_found` to `$schema`."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    own = declared(uri)
    if own is not None and own is not dialect:
        yield f"dialect is {dialect.name}, but the schema declares {own.name}"
    how = row["dialect_found"]
    if how not in _EVIDENCE or (how == "declared" and own is None):
        yield f"dialect_found is {how!r}, unlike the schema's `$schema`"
    words = row["dialect_words"]
    if how in _BY_WORDS if not words else how not in _MAY_HAVE_WORDS:
        yield f"dialect_words is {words}, unlike dialect_found, {how!r}"


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = list(without_columns(_NAME, contents, _COLUMNS))
    clean = contents.must_be_valid
    for item, faults in answers(_NAME, results, RecordFaults, findings):
        where = f"{item.where.partition('/')[0]}/{faults.unique_id}"
        findings += [
            Finding(check=_NAME, where=where, detail=detail, failure=clean)
            for detail in faults.invalid
        ]
        findings += [
            Finding(check=_NAME, where=where, detail=detail) for detail in faults.wrong
        ]
    findings += ledger_findings(_NAME, contents)
    records = [table for table in contents.tables.values() if table.holds_records]
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
