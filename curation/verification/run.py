"""Verify one folder: every check is made, even where an earlier one has failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.credentials.redaction import redacted
from curation.lint.credentials import cover_credentials
from curation.system.escaping import shortened
from curation.system.progress import Progress, Quiet
from curation.verification.core.check import CheckResult
from curation.verification.core.findings import READABLE, Finding, Verification
from curation.verification.core.folder_contents import open_folder
from curation.verification.registry import CHECKS
from curation.verification.worker_pool import run_units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.verification.core.check import FolderCheck, UnitResult
    from curation.verification.core.folder_contents import FolderContents

#: Characters of an error's text that a finding holds.
_SHOWN = 200


def verify_folder(
    folder: Path,
    *,
    jobs: int = 2,
    progress: Progress | None = None,
    checks: Sequence[FolderCheck] = CHECKS,
) -> Verification:
    """Return the findings about a built folder.

    Nothing in it is changed, and nothing is fetched.

    Args:
        folder: The dataset folder.
        jobs: Number of child processes.
        progress: Is told how many units are done.
        checks: Those to make, in this order; by default those of
            `curation.verification.registry`.

    Raises:
        NoInput: there is no such folder, or it is no build.
        WorkerDidNotStart: no child process can be started.
    """
    contents = open_folder(folder)
    results = run_units(contents, checks, jobs=jobs, progress=progress or Quiet())
    findings = list(contents.findings)
    counted: dict[str, int] = {}
    for check in checks:
        found = _judge(check, contents, results.get(check.name, ()))
        findings += found.findings
        counted |= found.counted
    return Verification(
        findings=tuple(map(_without_credentials, findings)),
        counted=counted,
        partial=contents.manifest is not None and contents.manifest.partial,
    )


def _judge(
    check: FolderCheck, contents: FolderContents, results: Sequence[UnitResult]
) -> CheckResult:
    """Return what a check finds; where it fails on an odd folder, that it does."""
    try:
        return check.judge(contents, results)
    except Exception as error:  # noqa: BLE001 - the folder may hold anything
        text = f"{check.name} cannot be judged: {type(error).__name__}: {error}"
        finding = Finding(check=READABLE, where="", detail=shortened(text, _SHOWN))
        return CheckResult(findings=(finding,))


def _without_credentials(finding: Finding) -> Finding:
    """Return a finding without the credentials that a name or an error may repeat."""
    where, detail = (
        redacted(cover_credentials(text)) for text in (finding.where, finding.detail)
    )
    return replace(finding, where=where, detail=detail)
