"""One build of the embedded sample for all tests of what a folder tells of itself."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def built(sample_build: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sample_build, tmp_path / "built")
