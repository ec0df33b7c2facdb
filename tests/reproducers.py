"""Read the reproducers that `write_issues` writes, and hold them against a walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evaluation.analysis.engine_issues import Reproducer, is_alike

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Row


def read_reproducers(path: Path) -> list[Reproducer]:
    """Return the reproducers of a file."""
    return msgspec.json.decode(path.read_bytes(), type=list[Reproducer])


def shows_in(reproducer: Reproducer, row: Row) -> bool:
    """Return whether a row of its case shows the same class at the same byte."""
    walked = row.walks[0]
    return is_alike(walked.why, reproducer.why) and walked.byte == reproducer.byte
