"""Verifying one folder: every check on it, whatever the one before has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.progress import Progress, Quiet
from curation.verification.contents import open_folder
from curation.verification.findings import Verification
from curation.verification.registry import CHECKS
from curation.verification.scan import scan

if TYPE_CHECKING:
    from pathlib import Path


def verify(
    folder: Path, *, jobs: int = 2, progress: Progress | None = None
) -> Verification:
    """Return what is to be said about a built folder.

    Nothing in it is changed, and nothing is fetched.

    Raises:
        NoInput: there is no such folder, or it is no build.
        WorkerDidNotStart: no child process can be started.
    """
    contents = open_folder(folder)
    with (progress or Quiet()).bar("Verifying") as advance:
        answers = scan(contents, CHECKS, jobs=jobs, progress=advance)
    findings = list(contents.findings)
    counted: dict[str, int] = {}
    for check in CHECKS:
        found = check.judge(contents, answers.get(check.name, ()))
        findings += found.findings
        counted |= found.counted
    return Verification(
        findings=tuple(findings),
        counted=counted,
        partial=bool(contents.manifest.get("partial")),
    )
