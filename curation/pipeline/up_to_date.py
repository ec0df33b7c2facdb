"""Is the output of this very build already there, whole and untouched?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.packaging.manifest import Manifest, read_manifest
from curation.system.checksums import FILE, file_digest, read_sums
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curation.workers.run_folder import RunFolder


def _name(options: Sequence[str]) -> str:
    """Name the completion that holds the digest of the folder's `SHA256SUMS`."""
    return "-".join(["published", *options])


def find_finished_build(
    out: Path, run: RunFolder, options: Sequence[str]
) -> Manifest | None:
    """Return the manifest of a folder that was built by this run with these options.

    Its `SHA256SUMS` is known, and lists every other file. None where the folder is
    another build's, or any of its files has changed.
    """
    expected = run.done(_name(options))
    if expected is None:
        return None
    try:
        if file_digest(out / FILE).encode() != expected:
            return None
        sums = read_sums(out)
        if any(file_digest(out / name) != digest for name, digest in sums.items()):
            return None
        return read_manifest(out)
    except (OSError, BadData, NoInput):
        return None


def remember_build(out: Path, run: RunFolder, options: Sequence[str]) -> None:
    """Store that the folder was built by this run with these options.

    Raises:
        CannotCreate: the run folder cannot be written.
    """
    run.store(_name(options), file_digest(out / FILE).encode())
