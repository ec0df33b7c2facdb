"""Is every record's schema valid in its own dialect, as both validators say?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.packaging.manifest import read_facts
from curation.schema.dialects import BY_NAME
from curation.validation.both_validators import both_verdicts
from curation.validation.metaschemas import complaint
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.rows import row_batches, row_columns
from curation.verification.derivations.record_columns import DERIVED, wrong_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.schema.dialects import Dialect
    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "schemas"
#: The rule that flags defects.
_LINTS = "lints"
_COLUMNS = ("unique_id", "json_schema", "dialect", *DERIVED)


class RecordFaults(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one record: nothing, where both lists are empty."""

    unique_id: str | None
    #: Why its schema is invalid in its own dialect.
    invalid: list[str]
    #: What else is wrong: its text, its dialect's name, its digests.
    wrong: list[str]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    for table in contents.records():
        if set(_COLUMNS) <= set(table.metadata.schema.to_arrow_schema().names):
            yield from row_batches(table)


def _work(folder: Path, unit: CheckUnit) -> RecordFaults:
    """Return what is wrong with one record."""
    rows = row_columns(folder / unit.where, unit.group, _COLUMNS)
    row = {name: rows[name][unit.row] for name in _COLUMNS}
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
        wrong += wrong_columns(row, schema, dialect, linted=_linted(folder))
    name = row["unique_id"]
    return RecordFaults(
        unique_id=name if isinstance(name, str) else None, invalid=invalid, wrong=wrong
    )


@cache
def _linted(folder: Path) -> bool:
    """Return whether the rules of a folder flag the defects of a schema."""
    return any(rule.name == _LINTS for rule in read_facts(folder).rule_list)


def _invalid(schema: Json, dialect: Dialect, text: bytes) -> Iterator[str]:
    found = complaint(schema, dialect)
    if found is not None:
        yield f"invalid under {dialect.name}: {found}"
        return
    for verdict in both_verdicts(schema, dialect, text):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    clean = contents.must_be_valid
    for table in contents.records():
        missing = set(_COLUMNS) - set(table.metadata.schema.to_arrow_schema().names)
        if missing:
            detail = f"no column {', '.join(sorted(missing))}"
            findings.append(Finding(check=_NAME, where=table.path, detail=detail))
    for result in results:
        unit = result.unit
        if not result.answered:
            row = f"row {unit.row} of row group {unit.group}"
            detail = f"{row}: {result.result.ending}: {result.detail}"
            findings.append(Finding(check=_NAME, where=unit.where, detail=detail))
            continue
        faults = result.answer_as(RecordFaults)
        where = f"{unit.where.partition('/')[0]}/{faults.unique_id}"
        findings += [
            Finding(check=_NAME, where=where, detail=detail, failure=clean)
            for detail in faults.invalid
        ]
        findings += [
            Finding(check=_NAME, where=where, detail=detail) for detail in faults.wrong
        ]
    return CheckResult(findings=findings, counted={"schemas validated": len(results)})


SCHEMAS = FolderCheck(
    name=_NAME,
    question="is every schema valid in its own dialect, as both validators say, and "
    "its digest its own?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
