"""One build of the embedded sample, with instances, to be verified and spoilt."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sound(sample_build_with_instances: Path) -> Path:
    """Return a build of the sample, to be read only."""
    return sample_build_with_instances


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """Return a build of the sample that a test may spoil."""
    return copytree(sound, tmp_path / "built")
