"""Find the published results of a dataset: those of the same content, or none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from curation.dataset.content_digest import content_digest, content_rows
from curation.system.package_data import results_folder

if TYPE_CHECKING:
    from pathlib import Path


def published_edition(folder: Path) -> Path | None:
    """Return the folder of the newest edition of results on a dataset.

    Args:
        folder: The dataset; its ids, schema texts, instances and labels decide.

    Returns:
        The folder; None if the dataset was not measured.
    """
    rows = content_rows(folder)
    for path in sorted(results_folder().glob("*/index.json"), reverse=True):
        dataset = json.loads(path.read_bytes())["dataset"]
        # Most builds have another number of rows, and need no digest.
        if dataset["rows"] == rows and dataset["content"] == content_digest(folder):
            return path.parent
    return None
