"""Does any text hold a credential of a known format? None is ever repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from curation.lint import credentials
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import read_text
from curation.verification.core.rows import first_row, group_batches, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "credentials"
#: How a JSON text begins that may hide something behind an escape.
_JSON = ("{", "[", '"')


def _batches(contents: FolderContents) -> Iterator[Sequence[UntypedJson]]:
    return group_batches(contents.tables.values())


def _value(text: str) -> UntypedJson:
    """Return the value of a JSON text, and any other text as it is."""
    if not text.startswith(_JSON):
        return text
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def _work(folder: Path, unit: UntypedJson) -> UntypedJson:
    """Return column, row, place and format of each credential of a row group."""
    found = []
    for row, _, name, text in texts(
        folder / unit["where"], unit["group"], credentials.SUSPECT
    ):
        credential = credentials.find_credential(_value(text))
        if credential is not None:
            found.append([name, row, credential.pointer, credential.format])
    return found


def _of_files(contents: FolderContents) -> Iterator[Finding]:
    for name, path in contents.files.items():
        if name in contents.tables:
            continue
        try:
            text = read_text(path)
        except (ValueError, OSError):
            continue
        found = credentials.find_credential(text)
        if found is not None:
            yield Finding(check=_NAME, where=name, detail=found.format)


def _judge(contents: FolderContents, answers: Sequence[UnitResult]) -> CheckResult:
    findings = list(_of_files(contents))
    for each in answers:
        path, group = each.unit["where"], each.unit["group"]
        if not each.answered:
            detail = f"row group {group} was not searched: {each.outcome.detail}"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
            continue
        first = first_row(contents, path, group) if each.value else 0
        for column, row, pointer, format_ in each.value:
            place = f" at {pointer}" if pointer else ""
            detail = f"{format_} in row {first + row}, column {column}{place}"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
    return CheckResult(findings=findings)


CREDENTIALS = FolderCheck(
    name=_NAME,
    question="is there no credential of a known format in any text?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
