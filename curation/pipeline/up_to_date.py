"""Is the output of this very build already there, whole and untouched?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.core.json_types import UntypedJson
from curation.packaging.manifest import FILE as MANIFEST
from curation.system.checksums import FILE, file_digest, read_sums
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from curation.workers.run_folder import RunFolder

#: The completion that holds the digest of the folder's `SHA256SUMS`.
_NAME = "published"


def find_finished_build(out: Path, run: RunFolder) -> Mapping[str, UntypedJson] | None:
    """Return the manifest of a folder that was built under this run's fingerprint.

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
        content = (out / MANIFEST).read_bytes()
        return msgspec.json.decode(content, type=dict[str, UntypedJson])
    except (OSError, BadData):
        return None


def remember_build(out: Path, run: RunFolder) -> None:
    """Store that the folder was built under this run's fingerprint.

    Raises:
        CannotCreate: the run folder cannot be written.
    """
    run.store(_NAME, file_digest(out / FILE).encode())
