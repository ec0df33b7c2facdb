"""Find the published results of a dataset: those of the same content, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.dataset.content_digest import content_digest
from curation.system.package_data import results_folder

if TYPE_CHECKING:
    from pathlib import Path


class _Dataset(msgspec.Struct):
    content: str


class _Index(msgspec.Struct):
    dataset: _Dataset


def published_results(folder: Path) -> str:
    """Return the table of the newest edition of results on a dataset, as Markdown.

    Args:
        folder: The dataset; its ids, schema texts, instances and labels decide.

    Returns:
        The table; empty if the dataset was not measured.
    """
    editions = sorted(results_folder().glob("*/index.json"), reverse=True)
    content = content_digest(folder) if editions else ""
    for path in editions:
        index = msgspec.json.decode(path.read_bytes(), type=_Index)
        if index.dataset.content == content:
            return path.with_name("table.md").read_text("utf-8")
    return ""
