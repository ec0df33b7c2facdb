"""Check every record: its schema in its own dialect, its columns, and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import holds_instances, size_of
from curation.core.documents import Rejected
from curation.dataset.features import used
from curation.json import text as jsontext
from curation.lint.lint import lints
from curation.lint.liveness import liveness
from curation.packaging.manifest import read_facts
from curation.schema.dialects import BY_NAME, Dialect, declared
from curation.schema.measures import max_fan_out, nesting, text_size
from curation.schema.subschemas import skeleton_digest
from curation.validation.dialect_decision import MIXED_DRAFTS
from curation.validation.metaschemas import complaint, valid_under
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
    *("skeleton_sha256", "dialect_found", "dialect_words"),
)
#: The lint that says how the dialect was found.
_LINT_OF_DIALECT = {
    "mixed": frozenset({MIXED_DRAFTS}),
    "fitting": frozenset({"other-draft"}),
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
#: The rule that flags defects.
_LINTS = "lints"
_COLUMNS = ("unique_id", "json_schema", "dialect", *_DERIVED)


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
        wrong += _wrong_columns(row, schema, dialect, linted=_linted(folder))
    name = row["unique_id"]
    return RecordFaults(
        unique_id=name if isinstance(name, str) else None, invalid=invalid, wrong=wrong
    )


@cache
def _linted(folder: Path) -> bool:
    """Return whether the rules of a folder flag the defects of a schema."""
    return any(rule.name == _LINTS for rule in read_facts(folder).rule_list)


def _invalid(schema: Json, dialect: Dialect, text: bytes) -> Iterator[str]:
    reason = complaint(schema, dialect)
    if reason is not None:
        yield f"invalid under {dialect.name}: {reason}"
        return
    for verdict in both_verdicts(schema, dialect, text):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _wrong_columns(
    row: Mapping[str, Json], schema: Json, dialect: Dialect, *, linted: bool
) -> Iterator[str]:
    """Yield the columns of a row that do not follow from its schema.

    Args:
        row: The record's columns by name: those of `_DERIVED` and the text.
        schema: The value of its text.
        dialect: Its own dialect.
        linted: Whether the rules that built it flag defects; `paper` never does.
    """
    usage, nested = used(schema, dialect), nesting(schema)
    alive = liveness(schema, dialect)
    text = jsontext.write(schema)
    if text != row["json_schema"]:
        yield "json_schema is not written as a build writes it"
    right: dict[str, Json] = {
        "field_count": nested.field_count,
        "max_fan_out": max_fan_out(schema),
        "depth": nested.depth,
        "size": text_size(text),
        "live": alive.share,
        "live_size": size_of(alive.fields),
        "vacuous": alive.vacuous,
        "features": list(usage.features),
        "formats": list(usage.formats),
        "valid_under": list(valid_under(schema)),
        "lints": _lint_codes(row, schema, dialect) if linted else [],
    }
    for name, value in right.items():
        if row[name] != value:
            yield f"{name} is {row[name]}, but {value} by the schema"
    if jsontext.digest(schema) != row["sha256"]:
        yield "sha256 is not that of the schema's canonical form"
    if skeleton_digest(schema, dialect) != row["skeleton_sha256"]:
        yield "skeleton_sha256 is not that of the schema's skeleton"
    yield from _dialect_faults(row, schema, dialect)


def _lint_codes(row: Mapping[str, Json], schema: Json, dialect: Dialect) -> list[Json]:
    codes = {lint.code for lint in lints(schema, dialect)}
    codes |= _LINT_OF_DIALECT.get(str(row["dialect_found"]), frozenset())
    return [*sorted(codes)]


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
