"""Search every text for credentials, and list personal data.

A credential of a documented format is a failure; its value is never repeated. E-mail
addresses, telephone numbers and the like are listed as notes: public schemas are full
of them. Names that are reserved for examples (RFC 2606, RFC 5737, RFC 3849) do not
count.
"""

from __future__ import annotations

import ipaddress
from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import re2

from curation.core.benchmark import CORE, LEDGER, holds_instances
from curation.core.json_types import Json
from curation.lint import credentials
from curation.system.words import counted
from curation.verification.check import (
    CheckItem,
    CheckResult,
    FolderCheck,
    group_batches,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text

_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}")
_PHONE = re2.compile(r"\+[1-9][0-9]{0,2}(?:[ .()-]{1,2}[0-9]{2,5}){2,5}\b")
_IP = re2.compile(
    r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"
)
_PASSWORD = re2.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{1,64}:[^\s/@\"']{1,64}@")
_RESERVED = re2.compile(
    r"(?i)(?:\.(?:example|test|invalid|localhost)|[@.]example\.(?:com|org|net))$"
)
#: RE2 syntax: a text that does not match holds no personal data.
_SUSPECT = (
    r"@[A-Za-z0-9]|\+[1-9]|[0-9]\.[0-9]{1,3}\.[0-9]|[0-9A-Fa-f]:[0-9A-Fa-f]|://[^/]*@"
)


def _is_global(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


#: Name of a kind, a text that each has, its pattern, and which of its matches count.
_KINDS: tuple[tuple[str, str, re2.Pattern, Callable[[str], bool]], ...] = (
    ("e-mail address", "@", _EMAIL, lambda address: not _RESERVED.search(address)),
    ("telephone number", "+", _PHONE, bool),
    ("IP address", "", _IP, _is_global),
    ("URL with a password", "://", _PASSWORD, bool),
)


def personal_data(text: str) -> Counter[str]:
    """Return the number of distinct values of each kind in a text."""
    numbers: Counter[str] = Counter()
    for name, mark, pattern, counts in _KINDS:
        if mark in text:
            real = set(filter(counts, pattern.findall(text)))
            if real:
                numbers[name] = len(real)
    return numbers


def _matches(rows: pa.Table, pattern: str) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and text of each text that matches a pattern of RE2."""
    for name in rows.column_names:
        matches = pc.match_substring_regex(rows[name], pattern)
        for row in pc.indices_nonzero(matches).to_pylist():
            yield row, name, rows[name][row].as_py()


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
    for row, column, text in _matches(rows, credentials.SUSPECT):
        value: Json = text
        with suppress(ValueError):
            value = orjson.loads(text)
        credential = credentials.find_credential(value)
        if credential is not None:
            at = f" at {credential.pointer}" if credential.pointer else ""
            detail = f"{credential.format} in row {first + row}, column {column}{at}"
            findings.append(Finding(where=item.where, detail=detail))
    numbers: defaultdict[int, Counter[str]] = defaultdict(Counter)
    # Instances and the core are made from records, and have no other texts.
    if not holds_instances(item.where) and not item.where.startswith(f"{CORE}/"):
        for row, _, text in _matches(rows, _SUSPECT):
            numbers[row] += personal_data(text)
    folder_name = item.where.rpartition("/")[0]
    personal: dict[str, Counter[str]] = {}
    for row in sorted(numbers):
        where = f"{item.where} row {first + row}"
        if folder_name != LEDGER and "unique_id" in texts:
            unique_id = rows["unique_id"][row].as_py()
            where = where if unique_id is None else f"{folder_name}/{unique_id}"
        personal[where] = personal.get(where, Counter()) + numbers[row]
    notes = _personal_notes(personal)
    return CheckResult(findings=findings + notes.findings, counted=notes.counted)


def _personal_notes(numbers: Mapping[str, Counter[str]]) -> CheckResult:
    """Return a note for each place with personal data, and counts of the places."""
    findings = []
    places: Counter[str] = Counter()
    for where, kinds in numbers.items():
        if kinds:
            listed = ", ".join(counted(number, name) for name, number in kinds.items())
            findings.append(Finding(where=where, detail=listed, failure=False))
            places.update(f"places with {name}" for name in kinds)
    return CheckResult(findings=findings, counted=places)


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
    personal: dict[str, Counter[str]] = {}
    for name in sorted(contents.files.keys() - contents.tables):
        # What cannot be read is reported by `strays`.
        with suppress(ValueError, OSError):
            text = read_text(contents.files[name])
            if credential := credentials.find_credential(text):
                findings.append(Finding(where=name, detail=credential.format))
            personal[name] = personal_data(text)
    notes = _personal_notes(personal)
    return CheckResult(
        findings=findings + notes.findings + result.findings,
        counted=Counter(notes.counted) + Counter(result.counted),
    )


TEXTS = FolderCheck(
    name="texts",
    question="is there no credential in any text? (personal data is only listed)",
    batches=lambda contents: group_batches(contents.tables.values()),
    work=search_rows,
    judge=judge_texts,
)
