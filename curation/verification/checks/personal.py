"""How many e-mail addresses and the like are there, and where? Never a failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import LEDGER
from curation.verification.checks.personal_data import SUSPECT, found_in
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import read_text
from curation.verification.core.rows import first_row, group_batches, matching_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "personal"


class PersonalDataInRow(msgspec.Struct, frozen=True, kw_only=True):
    """What in one row of a row group may lead to a person, counted."""

    #: Number of the row in its row group, from 0.
    row: int
    unique_id: str | None
    #: Kind to the number of distinct ones.
    counted: dict[str, int]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    # Instances are made from schemas: theirs are drawn, or stand in the schema.
    return group_batches(
        table
        for table in contents.tables.values()
        if table.holds_records or table.folder == LEDGER
    )


def _work(folder: Path, unit: CheckUnit) -> list[PersonalDataInRow]:
    """Return the rows of a row group that hold any, in order."""
    found: dict[int, Counter[str]] = {}
    names: dict[int, str | None] = {}
    for matched in matching_texts(folder / unit.where, unit.group, SUSPECT):
        found.setdefault(matched.row, Counter()).update(found_in(matched.text))
        names[matched.row] = matched.unique_id
    return [
        PersonalDataInRow(row=row, unique_id=names[row], counted=dict(found[row]))
        for row in sorted(found)
        if found[row]
    ]


def _listed(where: str, counted: Counter[str]) -> Finding:
    parts = [
        f"{number} {name}{'es' if name.endswith('s') else 's'}"
        if number > 1
        else f"{number} {name}"
        for name, number in counted.items()
    ]
    return Finding(check=_NAME, where=where, detail=", ".join(parts), failure=False)


def _in_files(contents: FolderContents) -> Iterator[tuple[str, Counter[str]]]:
    for name, path in contents.files.items():
        if name not in contents.tables:
            try:
                yield name, found_in(read_text(path))
            except (ValueError, OSError):
                continue


def _in_rows(
    contents: FolderContents, results: Sequence[UnitResult]
) -> Iterator[tuple[str, Counter[str]]]:
    for result in results:
        if not result.answered:
            continue
        path, found = result.unit.where, result.answer_as(list[PersonalDataInRow])
        first = first_row(contents, path, result.unit.group) if found else 0
        for record in found:
            config = contents.tables[path].folder
            where = (
                f"{path} row {first + record.row}"
                if config == LEDGER or record.unique_id is None
                else f"{config}/{record.unique_id}"
            )
            yield where, Counter(record.counted)


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    total: Counter[str] = Counter()
    findings = []
    for where, counted in (*_in_files(contents), *_in_rows(contents, results)):
        if counted:
            findings.append(_listed(where, counted))
            total.update({f"places with {name}": 1 for name in counted})
    return CheckResult(findings=findings, counted=total)


PERSONAL = FolderCheck(
    name=_NAME,
    question="where do e-mail addresses and the like stand? (listed, never a failure)",
    judge=_judge,
    batches=_batches,
    work=_work,
)
