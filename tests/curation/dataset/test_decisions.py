"""Results that wait on the disk."""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.dataset.decisions import DocumentResult, ResultFile
from curation.system.errors import CannotCreate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def _small_files() -> Iterator[None]:
    """Let no file grow past 1,000 bytes: a write across that place is cut there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("_small_files")
def test_a_result_of_which_a_part_fits_is_refused(tmp_path: Path) -> None:
    """The system takes a part without an error; what is lost would be read later."""
    result = DocumentResult(config="a", record=None, rejected=None, changes=())
    with ResultFile(tmp_path) as file:
        file.add(msgspec.json.encode(result))
        with pytest.raises(CannotCreate):
            file.add(msgspec.json.encode(replace(result, shingles=bytes(1_000))))
