"""A run's folder, locked and opened for rows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from evaluation.masks.run_folder import (
    ResultsFolder,
    hold_run_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json


@contextmanager
def open_results_folder(
    folder: Path, header: Mapping[str, Json]
) -> Iterator[ResultsFolder]:
    """Lock the folder and open it, new or with what an earlier try has left.

    Raises:
        TemporarilyUnavailable: another run is at work here (exit 75).
        CannotCreate: the folder is of another run (exit 73).
        CannotCreate: it cannot be written (exit 73).
    """
    with hold_run_folder(folder, header):
        run = ResultsFolder(folder, {"masks": None})
        try:
            yield run
        finally:
            run.close()
