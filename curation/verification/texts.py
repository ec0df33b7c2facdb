"""Search every text for credentials, and list personal data.

A credential of a documented format is a failure; its value is never repeated. E-mail
addresses, telephone numbers and the like are listed as notes: public schemas are full
of them. Names that are reserved for examples (RFC 2606, RFC 5737, RFC 3849) do not
count.
"""

from __future__ import annotations

import ipaddress
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import orjson
import re2

from curation.core.benchmark import CORE, LEDGER, holds_instances
from curation.core.json_types import Json
from curation.lint import credentials
from curation.system.words import counted
from curation.verification.check import (
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

_NAME = "texts"
_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}")
_PHONE = re2.compile(r"\+[1-9][0-9]{0,2}(?:[ .()-]{1,2}[0-9]{2,5}){2,5}\b")
_IP = re2.compile(
    r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"
)
_PASSWORD = re2.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{1,64}:[^\s/@\"']{1,64}@")
_RESERVED = ("example", "test", "invalid", "localhost")
_RESERVED_DOMAINS = ("example.com", "example.org", "example.net")
#: RE2 syntax: a text that does not match holds no personal data.
_SUSPECT = (
    r"@[A-Za-z0-9]|\+[1-9]|[0-9]\.[0-9]{1,3}\.[0-9]|[0-9A-Fa-f]:[0-9A-Fa-f]|://[^/]*@"
)


class TextsOfGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Credentials and personal data in the texts of a row group."""

    #: Row, column, and the credential's format with its place in the text.
    credentials: list[tuple[int, str, str]]
    #: Row, its `unique_id`, and the number of distinct values by their kind.
    personal: list[tuple[int, str | None, dict[str, int]]]


def _may_be_personal(address: str) -> bool:
    domain = address.rpartition("@")[2].lower()
    return domain.rpartition(".")[2] not in _RESERVED and not any(
        domain == reserved or domain.endswith(f".{reserved}")
        for reserved in _RESERVED_DOMAINS
    )


def _is_global(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _always(_text: str) -> bool:
    return True


#: Name of a kind, a text that each has, its pattern, and whether it counts.
_KINDS: tuple[tuple[str, str, re2.Pattern, Callable[[str], bool]], ...] = (
    ("e-mail address", "@", _EMAIL, _may_be_personal),
    ("telephone number", "+", _PHONE, _always),
    ("IP address", "", _IP, _is_global),
    ("URL with a password", "://", _PASSWORD, _always),
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


def _value(text: str) -> Json:
    """Return the value of a JSON text, and any other text as it is."""
    try:
        value: Json = orjson.loads(text)
    except ValueError:
        return text
    return value


def _work(folder: Path, item: CheckItem) -> TextsOfGroup:
    """Search the texts of a row group; one credential a text at most."""
    path = folder / item.where
    leaked = []
    for match in matching_texts(path, item.group, credentials.SUSPECT):
        credential = credentials.find_credential(_value(match.text))
        if credential is not None:
            place = f" at {credential.pointer}" if credential.pointer else ""
            leaked.append((match.row, f"{match.column}{place}", credential.format))
    counts: dict[tuple[int, str | None], Counter[str]] = {}
    # Instances and the core are made from records, and have no other texts.
    if not holds_instances(item.where) and not item.where.startswith(f"{CORE}/"):
        for match in matching_texts(path, item.group, _SUSPECT):
            row = counts.setdefault((match.row, match.unique_id), Counter())
            row.update(personal_data(match.text))
    return TextsOfGroup(
        credentials=leaked,
        personal=[(*row, dict(own)) for row, own in sorted(counts.items()) if own],
    )


def _credential(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=detail)


def _in_metadata(table: ParquetTable) -> Iterator[Finding]:
    """Yield the credentials in the key-value metadata of a table."""
    for key, value in (table.metadata.metadata or {}).items():
        for text in (key, value, _decoded(value)):
            credential = credentials.find_credential(text.decode("utf-8", "replace"))
            if credential is not None:
                yield _credential(table.path, f"{credential.format} in its metadata")
                break


def _decoded(value: bytes) -> bytes:
    """Return a value that is base64, as Arrow's own is, decoded; else nothing."""
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return b""


def _in_files(
    contents: FolderContents,
) -> Iterator[tuple[str, str, Counter[str]]]:
    """Yield each text file with the format of its first credential and its counts."""
    for name, path in contents.files.items():
        if name in contents.tables:
            continue
        try:
            text = read_text(path)
        except (ValueError, OSError):
            continue
        credential = credentials.find_credential(text)
        yield name, credential.format if credential else "", personal_data(text)


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings = [
        _credential("the name of a file", f"{credential.format} in it")
        for name in contents.files
        if (credential := credentials.find_credential(name))
    ]
    for table in contents.tables.values():
        findings += _in_metadata(table)
    personal: list[tuple[str, Counter[str]]] = []
    for name, form, counts in _in_files(contents):
        findings += [_credential(name, form)] if form else []
        personal.append((name, counts))
    for item, texts in answers(_NAME, results, TextsOfGroup, findings):
        table = contents.tables[item.where]
        first = first_row(table, item.group)
        for row, place, form in texts.credentials:
            detail = f"{form} in row {first + row}, column {place}"
            findings.append(_credential(item.where, detail))
        for row, unique_id, numbers in texts.personal:
            where = f"{table.folder}/{unique_id}"
            if table.folder == LEDGER or unique_id is None:
                where = f"{item.where} row {first + row}"
            personal.append((where, Counter(numbers)))
    total: Counter[str] = Counter()
    for where, counts in personal:
        if counts:
            listed = ", ".join(counted(number, name) for name, number in counts.items())
            note = Finding(check=_NAME, where=where, detail=listed, failure=False)
            findings.append(note)
            total.update({f"places with {name}": 1 for name in counts})
    return CheckResult(findings=findings, counted=total)


TEXTS = FolderCheck(
    name=_NAME,
    question="is there no credential in any text? (personal data is only listed)",
    judge=_judge,
    batches=lambda contents: group_batches(contents.tables.values()),
    work=_work,
)
