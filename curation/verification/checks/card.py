"""Are card, Croissant, licences and plots what the data gives?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.escaping import shortened
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "card"
_SHOWN = 300


def _batches(contents: FolderContents) -> Iterator[Sequence[UntypedJson]]:
    # What cannot be read has been told; nothing can be computed from it.
    if not contents.findings:
        yield [{"where": ""}]


def _work(folder: Path, _unit: UntypedJson) -> UntypedJson:
    """Return the names of the files that are not what the data gives."""
    from curation.packaging.derived_files import differing  # noqa: PLC0415 - draws plots

    return list(differing(folder))


def _judge(_contents: FolderContents, answers: Sequence[UnitResult]) -> CheckResult:
    findings = []
    for each in answers:
        if not each.answered:
            detail = f"cannot be computed from the data: {each.outcome.detail}"
            findings.append(
                Finding(check=_NAME, where="", detail=shortened(detail, _SHOWN))
            )
            continue
        findings += [
            Finding(check=_NAME, where=name, detail="not what the data gives")
            for name in each.value
        ]
    return CheckResult(findings=findings)


CARD = FolderCheck(
    name=_NAME,
    question="are card, Croissant, licences and plots what the data gives?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
