"""Is the output of this very build already standing, whole and untouched?"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from curation.packaging.manifest import FILE, file_digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.documents import Json
    from curation.runs import Run

_NAME = "published"


def standing(out: Path, run: Run) -> Mapping[str, Json] | None:
    """Return the manifest of a folder that this run's fingerprint has published.

    None where the folder is another build's, or any of its files has changed.
    """
    expected = run.done(_NAME)
    if expected is None:
        return None
    try:
        content = (out / FILE).read_bytes()
        if hashlib.sha256(content).hexdigest().encode() != expected:
            return None
        manifest: Mapping[str, Json] = orjson.loads(content)
        whole = all(
            file_digest(out / name) == file["sha256"]
            for name, file in manifest["files"].items()
        )
    except OSError:
        return None
    return manifest if whole else None


def remember(out: Path, run: Run) -> None:
    """Store that this run's fingerprint has published the folder.

    Raises:
        CannotCreate: the run folder cannot be written.
    """
    digest = hashlib.sha256((out / FILE).read_bytes()).hexdigest()
    run.store(_NAME, digest.encode())
