"""Check the files of a folder: digests, completeness, and credentials in any text.

The texts are the cells and the metadata of tables, other files, and their names. The
value of a credential never becomes part of a finding.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, NOTICES, SPLITS, records_config
from curation.core.json_types import Json
from curation.dataset.parquet import file_name
from curation.json import credentials
from curation.packaging.derived_files import is_derived
from curation.system.checksums import FILE as SUMS
from curation.system.checksums import read_sums
from curation.system.errors import BadData
from curation.system.user_files import file_digest
from curation.verification.check import (
    CheckItem,
    CheckResult,
    Finding,
    FolderCheck,
    FolderContents,
    group_batches,
    read_text,
)


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
        Finding(where=where, detail=credential.format + location)
        for where, location, text in _texts(contents)
        if (credential := credentials.find_credential(text))
    ]
    return CheckResult(findings=findings + result.findings)


def _texts(contents: FolderContents) -> Iterator[tuple[str, str, str]]:
    """Yield where a finding is, words about the place, and the text."""
    for name in contents.files:
        yield "the name of a file", " in it", name
    for table in contents.tables.values():
        for key, value in (table.metadata.metadata or {}).items():
            content = key + b"\n" + value
            with suppress(ValueError):  # Arrow's schema is in base64.
                content += b"\n" + b64decode(value, validate=True)
            yield table.path, " in its metadata", content.decode("utf-8", "replace")
    for name in sorted(contents.files.keys() - contents.tables):
        # What cannot be read is reported by `strays`.
        with suppress(ValueError, OSError):
            yield name, "", read_text(contents.files[name])


TEXTS = FolderCheck(
    name="texts",
    question="is there no credential in any text?",
    batches=lambda contents: group_batches(contents.tables.values()),
    work=search_rows,
    judge=judge_texts,
)


_GIT = ".git"
#: The notes of the Hub's client about its downloads.
_HUB_NOTES = ".cache/huggingface/"


def judge_digests(contents: FolderContents, _result: CheckResult) -> CheckResult:
    """Compare the digests of all files with the list of them."""
    digests = {name: file_digest(path) for name, path in contents.files.items()}
    # An unreadable file is reported already.
    unread = {finding.where for finding in contents.findings}
    faults = {}
    if SUMS in digests:
        try:
            sums = read_sums(contents.folder)
        except (BadData, OSError) as error:
            faults[SUMS] = f"not readable ({error})"
        else:
            sums[SUMS] = digests[SUMS]
            for path in digests.keys() | sums:
                if path not in digests:
                    faults[path] = f"missing, but listed in {SUMS}"
                elif path not in sums:
                    faults[path] = f"not listed in {SUMS}"
                elif digests[path] != sums[path]:
                    faults[path] = f"changed: not the digest in {SUMS}"
    else:
        faults[SUMS] = "missing"
    return CheckResult(
        findings=[
            Finding(where=path, detail=faults[path])
            for path in sorted(faults.keys() - unread)
        ],
        counted={"file": len(digests)},
    )


DIGESTS = FolderCheck(
    name="digests",
    question="are the files those that SHA256SUMS lists?",
    judge=judge_digests,
)


def _stray_folders(folder: Path) -> Iterator[Finding]:
    """Yield empty folders, git's own, and the files of foreign caches."""
    for parent, folders, names in os.walk(folder):
        where = Path(parent).relative_to(folder).as_posix()
        inside = "" if where == "." else f"{where}/"
        if inside and not folders and not names:
            yield Finding(where=where, detail="an empty folder")
        if _GIT in folders or _GIT in names:
            detail = "git's own folder, which may hold anything; verify a copy without"
            yield Finding(where=inside + _GIT, detail=detail)
            folders[:] = [name for name in folders if name != _GIT]
        if inside.startswith(".cache/") and not inside.startswith(_HUB_NOTES):
            for name in names:
                yield Finding(where=inside + name, detail="no note of the Hub's client")


def _stray_files(contents: FolderContents) -> Iterator[Finding]:
    """Yield the files that no build writes."""
    numbers = Counter((table.folder, table.split) for table in contents.tables.values())
    expected = {
        file_name(folder, split, number, files)
        for (folder, split), files in numbers.items()
        if split in SPLITS and "/" not in records_config(folder)
        for number in range(files)
    }
    for name, path in contents.files.items():
        table = contents.tables.get(name)
        if table and table.folder != LEDGER and name not in expected:
            detail = "a table that no build writes under this name"
            yield Finding(where=name, detail=detail)
        if table or is_derived(name):
            continue
        try:
            read_text(path)
        except (ValueError, OSError) as error:
            detail = f"no file of a build, and no text ({error})"
            yield Finding(where=name, detail=detail)
        else:
            # Notices of others keep their own names.
            if not name.startswith(f"{NOTICES}/"):
                detail = "no file of a build"
                yield Finding(where=name, detail=detail, failure=False)


STRAYS = FolderCheck(
    name="strays",
    question="is there nothing else: no stray file, no empty folder, no .git?",
    judge=lambda contents, _result: CheckResult(
        findings=[*_stray_folders(contents.folder), *_stray_files(contents)]
    ),
)
