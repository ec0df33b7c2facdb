"""Search every text for credentials of known formats; a value is never repeated."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import orjson

from curation.core.json_types import Json
from curation.lint import credentials
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import (
    FolderContents,
    ParquetTable,
    read_text,
)
from curation.verification.rows import first_row, group_batches, matching_texts

_NAME = "credentials"
_UNNAMED = "the name of a file"


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
    try:
        value: Json = orjson.loads(text)
    except ValueError:
        return text
    return value


def _work(folder: Path, item: CheckItem) -> list[CredentialInRow]:
    """Return the credentials of a row group, one a text at most."""
    rows = []
    for match in matching_texts(folder / item.where, item.group, credentials.SUSPECT):
        credential = credentials.find_credential(_value(match.text))
        if credential is not None:
            rows.append(
                CredentialInRow(
                    column=match.column,
                    row=match.row,
                    pointer=credential.pointer,
                    format=credential.format,
                )
            )
    return rows


def _in_files(contents: FolderContents) -> Iterator[Finding]:
    for name, path in contents.files.items():
        credential = credentials.find_credential(name)
        if credential is not None:
            detail = f"{credential.format} in it"
            yield Finding(check=_NAME, where=_UNNAMED, detail=detail)
        if name in contents.tables:
            yield from _in_metadata(contents.tables[name])
            continue
        try:
            text = read_text(path)
        except (ValueError, OSError):
            continue
        credential = credentials.find_credential(text)
        if credential is not None:
            yield Finding(check=_NAME, where=name, detail=credential.format)


def _in_metadata(table: ParquetTable) -> Iterator[Finding]:
    """Yield the credentials in the key-value metadata of a table."""
    for key, value in (table.metadata.metadata or {}).items():
        for text in (key, value, _decoded(value)):
            credential = credentials.find_credential(text.decode("utf-8", "replace"))
            if credential is not None:
                detail = f"{credential.format} in its metadata"
                yield Finding(check=_NAME, where=table.path, detail=detail)
                break


def _decoded(value: bytes) -> bytes:
    """Return a value that is base64, as Arrow's own is, decoded; else nothing."""
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return b""


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = list(_in_files(contents))
    for item, matches in answers(_NAME, results, list[CredentialInRow], findings):
        first = first_row(contents.tables[item.where], item.group)
        for credential in matches:
            pointer = f" at {credential.pointer}" if credential.pointer else ""
            row = f"row {first + credential.row}, column {credential.column}"
            detail = f"{credential.format} in {row}{pointer}"
            findings.append(Finding(check=_NAME, where=item.where, detail=detail))
    return CheckResult(findings=findings)


CREDENTIALS = FolderCheck(
    name=_NAME,
    question="is there no credential of a known format in any text?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
