"""Are card, Croissant, licences and plots what the data gives?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.escaping import shortened
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "card"
_SHOWN = 300


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    # What cannot be read is reported already; nothing can be computed from it.
    if not contents.findings:
        yield [CheckUnit(where="")]


def _work(folder: Path, _unit: CheckUnit) -> list[str]:
    """Return the names of the files that are not what the data gives."""
    from curation.packaging.derived_files import differing_files  # noqa: PLC0415 - draws plots

    return differing_files(folder)


def _judge(_contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings = []
    for result in results:
        if not result.answered:
            detail = f"cannot be computed from the data: {result.detail}"
            findings.append(
                Finding(check=_NAME, where="", detail=shortened(detail, _SHOWN))
            )
            continue
        findings += [
            Finding(check=_NAME, where=name, detail="not what the data gives")
            for name in result.answer_as(list[str])
        ]
    return CheckResult(findings=findings)


CARD = FolderCheck(
    name=_NAME,
    question="are card, Croissant, licences and plots what the data gives?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
