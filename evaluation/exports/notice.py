"""What whoever gets an export has to know: partial data, and what a run lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.system.atomic_files import atomic_write_bytes
from evaluation.results.completeness import gaps_of
from evaluation.results.description import partial_data

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

#: The file's name, beside what is exported.
FILE: Final = "notice.txt"


def notice_of(run: RecordedRun) -> list[str]:
    """Return why figures of a run are not what they seem, line by line; often none."""
    return [*gaps_of(run), *partial_data(run.header)]


def write_notice(run: RecordedRun, folder: Path) -> list[Path]:
    """Write the notice of a run into a folder, where it has one; returns the file.

    Raises:
        CannotCreate: it cannot be written.
    """
    lines = notice_of(run)
    path = folder / FILE
    if not lines:
        return []
    atomic_write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
    return [path]
