"""Is the output of this very build already standing, whole and untouched?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from curation.packaging.manifest import FILE as MANIFEST
from curation.system.checksums import FILE, file_digest, read_sums
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.workers.run_folder import RunFolder

_NAME = "published"


def standing(out: Path, run: RunFolder) -> Mapping[str, UntypedJson] | None:
    """Return the manifest of a folder that this run's fingerprint has published.

    Its `SHA256SUMS` is known, and lists every other file. None where the folder is
    another build's, or any of its files has changed.
    """
    expected = run.done(_NAME)
    if expected is None:
        return None
    try:
        if file_digest(out / FILE).encode() != expected:
            return None
        sums = read_sums(out)
        if any(file_digest(out / name) != digest for name, digest in sums.items()):
            return None
        manifest: Mapping[str, UntypedJson] = orjson.loads(
            (out / MANIFEST).read_bytes()
        )
    except (OSError, BadData):
        return None
    return manifest


def remember(out: Path, run: RunFolder) -> None:
    """Store that this run's fingerprint has published the folder.

    Raises:
        CannotCreate: the run folder cannot be written.
    """
    run.store(_NAME, file_digest(out / FILE).encode())
