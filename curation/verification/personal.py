"""List e-mail addresses, telephone numbers and the like; never a failure.

Public schemas are full of them. Names that are reserved for examples (RFC 2606,
RFC 5737, RFC 3849) do not count.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import re2

from curation.core.benchmark import LEDGER
from curation.system.words import counted
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, read_text
from curation.verification.rows import first_row, group_batches, matching_texts

_NAME = "personal"
_EMAIL = re2.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}")
_PHONE = re2.compile(r"\+[1-9][0-9]{0,2}(?:[ .()-]{1,2}[0-9]{2,5}){2,5}\b")
_IP = re2.compile(
    r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"
)
_PASSWORD = re2.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{1,64}:[^\s/@\"']{1,64}@")
_RESERVED = ("example", "test", "invalid", "localhost")
_RESERVED_DOMAINS = ("example.com", "example.org", "example.net")


class PersonalDataInRow(msgspec.Struct, frozen=True, kw_only=True):
    """Personal data in one row of a row group, counted."""

    #: Number of the row in its row group, from 0.
    row: int
    unique_id: str | None
    #: Kind to the number of distinct ones.
    counted: dict[str, int]


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


#: RE2 syntax: a text that does not match holds none of them.
_SUSPECT = (
    r"@[A-Za-z0-9]|\+[1-9]|[0-9]\.[0-9]{1,3}\.[0-9]|[0-9A-Fa-f]:[0-9A-Fa-f]|://[^/]*@"
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


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    # Instances are made from schemas: theirs are drawn, or stand in the schema.
    return group_batches(
        table
        for table in contents.tables.values()
        if table.holds_records or table.folder == LEDGER
    )


def _work(folder: Path, item: CheckItem) -> list[PersonalDataInRow]:
    """Return the rows of a row group that hold any, in order."""
    counts: dict[int, Counter[str]] = {}
    names: dict[int, str | None] = {}
    for match in matching_texts(folder / item.where, item.group, _SUSPECT):
        counts.setdefault(match.row, Counter()).update(personal_data(match.text))
        names[match.row] = match.unique_id
    return [
        PersonalDataInRow(row=row, unique_id=names[row], counted=dict(counts[row]))
        for row in sorted(counts)
        if counts[row]
    ]


def _note(where: str, counts: Counter[str]) -> Finding:
    parts = [counted(number, name) for name, number in counts.items()]
    return Finding(check=_NAME, where=where, detail=", ".join(parts), failure=False)


def _in_files(contents: FolderContents) -> Iterator[tuple[str, Counter[str]]]:
    for name, path in contents.files.items():
        if name not in contents.tables:
            try:
                yield name, personal_data(read_text(path))
            except (ValueError, OSError):
                continue


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    places = list(_in_files(contents))
    # The check of credentials, which reads the same tables, reports unreadable ones.
    for item, rows in answers(_NAME, results, list[PersonalDataInRow], []):
        table = contents.tables[item.where]
        for row in rows:
            where = f"{table.folder}/{row.unique_id}"
            if table.folder == LEDGER or row.unique_id is None:
                where = f"{item.where} row {first_row(table, item.group) + row.row}"
            places.append((where, Counter(row.counted)))
    total: Counter[str] = Counter()
    findings = []
    for where, counts in places:
        if counts:
            findings.append(_note(where, counts))
            total.update({f"places with {name}": 1 for name in counts})
    return CheckResult(findings=findings, counted=total)


PERSONAL = FolderCheck(
    name=_NAME,
    question="where are e-mail addresses and the like? (listed, never a failure)",
    judge=_judge,
    batches=_batches,
    work=_work,
)
