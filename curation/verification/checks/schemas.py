"""Is every record's schema valid in its own dialect, as both validators say?"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.schema.dialects import BY_NAME
from curation.schema.skeleton import skeleton_digest
from curation.validation.both_validators import both_verdicts
from curation.validation.metaschemas import complaint
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.rows import columns, row_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect
    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "schemas"
_COLUMNS = ("unique_id", "json_schema", "dialect", "sha256", "skeleton_sha256")
#: The rule set whose records are valid by construction.
_CLEAN = "clean"


def _batches(contents: FolderContents) -> Iterator[Sequence[UntypedJson]]:
    for table in contents.records():
        if set(_COLUMNS) <= set(table.metadata.schema.to_arrow_schema().names):
            yield from row_batches(table)


def _work(folder: Path, unit: UntypedJson) -> UntypedJson:
    """Return what is wrong with one record: validity, then digests."""
    rows = columns(folder / unit["where"], unit["group"], _COLUMNS)
    row = {name: rows[name][unit["row"]] for name in _COLUMNS}
    invalid: list[str] = []
    wrong: list[str] = []
    schema = jsontext.parse((row["json_schema"] or "").encode("utf-8", "surrogatepass"))
    dialect = BY_NAME.get(row["dialect"])
    if isinstance(schema, Rejected):
        wrong.append(f"json_schema is no JSON: {schema.detail}")
    elif dialect is None:
        wrong.append(f"no such dialect: {row['dialect']!r}")
    else:
        text = jsontext.canonical(schema)
        invalid += _invalid(schema, dialect, text)
        if sha256(text).hexdigest() != row["sha256"]:
            wrong.append("sha256 is not that of the schema's canonical form")
        if skeleton_digest(schema, dialect) != row["skeleton_sha256"]:
            wrong.append("skeleton_sha256 is not that of the schema's skeleton")
    return [row["unique_id"], invalid, wrong] if invalid or wrong else None


def _invalid(schema: UntypedJson, dialect: Dialect, text: bytes) -> Iterator[str]:
    found = complaint(schema, dialect)
    if found is not None:
        yield f"invalid under {dialect.name}: {found}"
        return
    for verdict in both_verdicts(schema, dialect, text):
        if not verdict.accepts:
            yield f"{dialect.name}: {verdict}"


def _judge(contents: FolderContents, answers: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    clean = contents.manifest.get("rules", _CLEAN) == _CLEAN
    for table in contents.records():
        missing = set(_COLUMNS) - set(table.metadata.schema.to_arrow_schema().names)
        if missing:
            detail = f"no column {', '.join(sorted(missing))}"
            findings.append(Finding(check=_NAME, where=table.path, detail=detail))
    for each in answers:
        config = each.unit["where"].partition("/")[0]
        if not each.answered:
            row = f"row {each.unit['row']} of row group {each.unit['group']}"
            detail = f"{row}: {each.outcome.ending}: {each.outcome.detail}"
            findings.append(
                Finding(check=_NAME, where=each.unit["where"], detail=detail)
            )
        elif each.value is not None:
            unique_id, invalid, wrong = each.value
            where = f"{config}/{unique_id}"
            findings += [
                Finding(check=_NAME, where=where, detail=detail, failure=clean)
                for detail in invalid
            ]
            findings += [
                Finding(check=_NAME, where=where, detail=detail) for detail in wrong
            ]
    return CheckResult(findings=findings, counted={"schemas validated": len(answers)})


SCHEMAS = FolderCheck(
    name=_NAME,
    question="is every schema valid in its own dialect, as both validators say, and "
    "its digest its own?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
