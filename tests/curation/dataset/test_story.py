"""Stories of documents in builds of other code."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.dataset.ledger import CHANGES, DOCUMENTS, REQUIRED
from curation.dataset.story import stories
from curation.system.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [DOCUMENTS, CHANGES])
def test_a_ledger_of_older_code_is_one_line(
    name: str, sample_build: Path, tmp_path: Path
) -> None:
    """Whichever column it lacks, or lacks a value of; column and table are named."""
    for part in ("ledger", "Github_easy"):
        shutil.copytree(sample_build / part, tmp_path / part)
    assert stories(tmp_path, "o161")
    table = pq.read_table(sample_build / name)
    for place, column in enumerate(table.column_names):
        lacking = [table.drop_columns([column])]
        if column in REQUIRED[name]:
            nulls = pa.nulls(len(table), table.schema.field(place).type)
            lacking.append(table.set_column(place, column, nulls))
        for tampered in lacking:
            pq.write_table(tampered, tmp_path / name)
            with pytest.raises(BadData, match=f"column {column}") as refused:
                stories(tmp_path, "o1")
            assert name in str(refused.value)


def test_a_reason_of_newer_code_has_no_explanation(
    sample_build: Path, tmp_path: Path
) -> None:
    """What this version does not know it does not explain; the rest is told."""
    shutil.copytree(sample_build / "ledger", tmp_path / "ledger")
    table = pq.read_table(sample_build / DOCUMENTS)
    place = table.schema.get_field_index("outcome")
    newer = pa.array(["of_tomorrow"] * len(table), table.schema.field(place).type)
    pq.write_table(table.set_column(place, "outcome", newer), tmp_path / DOCUMENTS)
    (story,) = stories(tmp_path, "o161")
    assert (story.kept, story.explanation) == (False, "")
    assert story.entry.outcome == "of_tomorrow"
