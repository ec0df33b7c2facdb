"""Stories of documents in builds of other code."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.dataset.story import stories
from curation.system.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [DOCUMENTS, CHANGES])
def test_a_ledger_of_older_code_is_one_line(
    name: str, sample_build: Path, tmp_path: Path
) -> None:
    """Whichever column it lacks; column and table are named."""
    for part in ("ledger", "Github_easy"):
        shutil.copytree(sample_build / part, tmp_path / part)
    assert stories(tmp_path, "o161")
    table = pq.read_table(sample_build / name)
    for column in table.column_names:
        pq.write_table(table.drop_columns([column]), tmp_path / name)
        with pytest.raises(BadData) as refused:
            stories(tmp_path, "o161")
        assert f"no column {column}" in str(refused.value)
        assert name in str(refused.value)
