"""Does any text hold a credential of a known format? None is ever repeated."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

import msgspec
import orjson

from curation.lint import credentials
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import read_text
from curation.verification.core.rows import first_row, group_batches, matching_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents, ParquetTable

_NAME = "credentials"
_UNNAMED = "the name of a file"
#: How a JSON text begins that may hide something behind an escape.
_JSON = ("{", "[", '"')


class CredentialInRow(msgspec.Struct, frozen=True, kw_only=True):
    """A credential in one text of a row group; its value is not in here."""

    column: str
    #: Number of the row in its row group, from 0.
    row: int
    #: JSON pointer into the text's value; empty where the text is no JSON.
    pointer: str
    #: Name of the credential's format.
    format: str


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    return group_batches(contents.tables.values())


def _value(text: str) -> Json:
    """Return the value of a JSON text, and any other text as it is."""
    if not text.startswith(_JSON):
        return text
    try:
        value: Json = orjson.loads(text)
    except ValueError:
        return text
    return value


def _work(folder: Path, unit: CheckUnit) -> list[CredentialInRow]:
    """Return the credentials of a row group, one a text at most."""
    found = []
    for matched in matching_texts(folder / unit.where, unit.group, credentials.SUSPECT):
        credential = credentials.find_credential(_value(matched.text))
        if credential is not None:
            found.append(
                CredentialInRow(
                    column=matched.column,
                    row=matched.row,
                    pointer=credential.pointer,
                    format=credential.format,
                )
            )
    return found


def _in_files(contents: FolderContents) -> Iterator[Finding]:
    for name, path in contents.files.items():
        found = credentials.find_credential(name)
        if found is not None:
            yield Finding(check=_NAME, where=_UNNAMED, detail=f"{found.format} in it")
        if name in contents.tables:
            yield from _in_metadata(contents.tables[name])
            continue
        try:
            text = read_text(path)
        except (ValueError, OSError):
            continue
        found = credentials.find_credential(text)
        if found is not None:
            yield Finding(check=_NAME, where=name, detail=found.format)


def _in_metadata(table: ParquetTable) -> Iterator[Finding]:
    """Yield the credentials in the key-value metadata of a table."""
    for key, value in (table.metadata.metadata or {}).items():
        for text in (key, value, _decoded(value)):
            found = credentials.find_credential(text.decode("utf-8", "replace"))
            if found is not None:
                detail = f"{found.format} in its metadata"
                yield Finding(check=_NAME, where=table.path, detail=detail)
                break


def _decoded(value: bytes) -> bytes:
    """Return a value that is base64, as Arrow's own is, decoded; else nothing."""
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return b""


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings = list(_in_files(contents))
    for result in results:
        path, group = result.unit.where, result.unit.group
        if not result.answered:
            detail = f"row group {group} was not searched: {result.detail}"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
            continue
        found = result.answer_as(list[CredentialInRow])
        first = first_row(contents, path, group) if found else 0
        for credential in found:
            place = f" at {credential.pointer}" if credential.pointer else ""
            row = f"row {first + credential.row}, column {credential.column}"
            detail = f"{credential.format} in {row}{place}"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
    return CheckResult(findings=findings)


CREDENTIALS = FolderCheck(
    name=_NAME,
    question="is there no credential of a known format in any text?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
