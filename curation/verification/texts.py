"""Search every text of a folder for credentials.

The texts are the cells and the metadata of tables, other files, and their names. The
value of a credential never becomes part of a finding.
"""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.json_types import Json
from curation.lint import credentials
from curation.verification.check import (
    CheckItem,
    CheckResult,
    FolderCheck,
    group_batches,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text


def search_rows(folder: Path, item: CheckItem) -> CheckResult:
    """Search the texts of a row group; one credential a text at most."""
    with pq.ParquetFile(folder / item.where) as file:
        texts = [
            each.name
            for each in file.schema_arrow
            if each.type in {pa.string(), pa.large_string()}
        ]
        rows = file.read_row_group(item.group, columns=texts)
        before = map(file.metadata.row_group, range(item.group))
        first = sum(group.num_rows for group in before)
    findings = []
    for column in texts:
        suspects = pc.match_substring_regex(rows[column], credentials.SUSPECT)
        for row in pc.indices_nonzero(suspects).to_pylist():
            text = rows[column][row].as_py()
            value: Json = text
            with suppress(ValueError):
                value = orjson.loads(text)
            credential = credentials.find_credential(value)
            if credential is not None:
                at = f" at {credential.pointer}" if credential.pointer else ""
                detail = (
                    f"{credential.format} in row {first + row}, column {column}{at}"
                )
                findings.append(Finding(where=item.where, detail=detail))
    return CheckResult(findings=findings)


def judge_texts(contents: FolderContents, result: CheckResult) -> CheckResult:
    """Search names of files, metadata of tables and whole texts too."""
    findings = [
        Finding(where="the name of a file", detail=f"{credential.format} in it")
        for name in contents.files
        if (credential := credentials.find_credential(name))
    ]
    for table in contents.tables.values():
        for key, value in (table.metadata.metadata or {}).items():
            texts = [key, value]
            with suppress(ValueError):  # As Arrow's own is.
                texts.append(b64decode(value, validate=True))
            found = (
                credentials.find_credential(text.decode("utf-8", "replace"))
                for text in texts
            )
            if credential := next(filter(None, found), None):
                detail = f"{credential.format} in its metadata"
                findings.append(Finding(where=table.path, detail=detail))
    for name in sorted(contents.files.keys() - contents.tables):
        # What cannot be read is reported by `strays`.
        with suppress(ValueError, OSError):
            text = read_text(contents.files[name])
            if credential := credentials.find_credential(text):
                findings.append(Finding(where=name, detail=credential.format))
    return CheckResult(findings=findings + result.findings)


TEXTS = FolderCheck(
    name="texts",
    question="is there no credential in any text?",
    batches=lambda contents: group_batches(contents.tables.values()),
    work=search_rows,
    judge=judge_texts,
)
