"""How many e-mail addresses and the like are there, and where? Never a failure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from curation.verification.checks.personal_data import SUSPECT, found_in
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import LEDGER, read_text
from curation.verification.core.rows import first_row, group_batches, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "personal"


def _batches(contents: FolderContents) -> Iterator[Sequence[UntypedJson]]:
    # Instances are made from schemas: theirs are drawn, or stand in the schema.
    return group_batches(
        each
        for each in contents.tables.values()
        if each.holds_records or each.config == LEDGER
    )


def _work(folder: Path, unit: UntypedJson) -> UntypedJson:
    """Return row, name of the row, and what is in it, of a row group."""
    found: dict[int, Counter[str]] = {}
    names: dict[int, str | None] = {}
    for row, name, _, text in texts(folder / unit["where"], unit["group"], SUSPECT):
        found.setdefault(row, Counter()).update(found_in(text))
        names[row] = name
    return [[row, names[row], dict(found[row])] for row in sorted(found) if found[row]]


def _listed(where: str, counted: Counter[str]) -> Finding:
    parts = [
        f"{number} {name}{'es' if name.endswith('s') else 's'}"
        if number > 1
        else f"{number} {name}"
        for name, number in counted.items()
    ]
    return Finding(check=_NAME, where=where, detail=", ".join(parts), failure=False)


def _of_files(contents: FolderContents) -> Iterator[tuple[str, Counter[str]]]:
    for name, path in contents.files.items():
        if name not in contents.tables:
            try:
                yield name, found_in(read_text(path))
            except (ValueError, OSError):
                continue


def _of_rows(
    contents: FolderContents, answers: Sequence[UnitResult]
) -> Iterator[tuple[str, Counter[str]]]:
    for each in answers:
        path = each.unit["where"]
        first = first_row(contents, path, each.unit["group"]) if each.value else 0
        for row, name, counted in each.value or ():
            config = contents.tables[path].config
            where = (
                f"{path} row {first + row}"
                if config == LEDGER or name is None
                else f"{config}/{name}"
            )
            yield where, Counter(counted)


def _judge(contents: FolderContents, answers: Sequence[UnitResult]) -> CheckResult:
    total: Counter[str] = Counter()
    findings = []
    for where, counted in (*_of_files(contents), *_of_rows(contents, answers)):
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
