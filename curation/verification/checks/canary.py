"""Does the card, the manifest and every table bear the mark against contamination?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.canary import METADATA_KEY
from curation.packaging.card import FILE as CARD
from curation.packaging.manifest import FILE as MANIFEST
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "canary"


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=detail)


def _findings(contents: FolderContents) -> Iterator[Finding]:
    if contents.manifest is None:
        return
    canary = contents.manifest.canary
    if not isinstance(canary, str) or not canary:
        yield _finding(MANIFEST, "no canary")
        return
    if CARD in contents.files:
        try:
            if canary not in read_text(contents.files[CARD]):
                yield _finding(CARD, "without the canary of the manifest")
        except (ValueError, OSError):
            pass
    for table in contents.tables.values():
        if (table.metadata.metadata or {}).get(
            METADATA_KEY.encode()
        ) != canary.encode():
            yield _finding(table.path, "without the canary of the manifest")


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    return CheckResult(findings=tuple(_findings(contents)))


CANARY = FolderCheck(
    name=_NAME,
    question="do card, manifest and every table bear the canary?",
    judge=_judge,
)
